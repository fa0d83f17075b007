"""The dependencies of a cell: the values and the user's code that it may read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from ipytorchseed.reads.patches import find_at

# Matches names under which the shell stores the results and texts of cells.
is_result = re.compile(r"_{1,3}|_\d+|_i{1,3}|_i\d+|Out|In").fullmatch


# In characters. Parsing a cell of this length takes about 20 ms, or 100 ms for a list of digits.
_MAX_LENGTH = 32_000


def is_too_long(source: str) -> bool:
    """Return whether the text of a cell is too long to be parsed."""
    return len(source) > _MAX_LENGTH


class Dependencies(Struct):
    """The dependencies of a cell, and what it does, including functions it may call.

    Attributes:
        names: The values that the cell may read. Each name is mapped to the place of the value: a
            module's name ("" for the namespace), and the name in the module.
        replaced: The ``names`` that are attributes of packages and that the user has replaced.
        missing: Names that the cell may read and that are not in the namespace, such as builtins.
        writes: Names in the namespace that the cell may set.
        sets: Attributes of modules, and of classes of packages, that the cell may set. Each is
            mapped to its place, as in ``names``.
        actions: The actions of the cell, in order: calls, by import name if known
            (``numpy.random.seed``, ``model.train``), attributes that are set (``cfg.lr=``), names
            that are deleted (``del df``), imports (``import torch``), magics and shell commands.
        nondeterministic_calls: Functions that the cell may call and whose results are different
            every time, by import name. Also the programs that it runs, as in ``magics.Magic``.
        timing: The ``nondeterministic_calls`` that are clocks, if the cell only prints or stores
            their results.
        timed: Names in the namespace whose values only contain readings of clocks, numbers and
            strings computed from readings, or addresses of objects. A name that the cell only reads
            is included if its value is of this kind, and the cell only computes such values from
            it.
        packages: Packages whose functions, classes or objects the cell may use.
        variables: Environment variables that the cell may read.
        files: Files that the cell runs, in the notebook or as separate programs.
        texts: String constants that may be names of files or folders.
        hashes: Whether results may depend on the hash seed.
        complete: False if there was too much code to follow, or if the cell runs a string whose
            content is unknown.
    """

    names: dict[str, tuple[str, str]] = {}
    replaced: set[str] = set()
    missing: set[str] = set()
    writes: set[str] = set()
    sets: dict[str, tuple[str, str]] = {}
    actions: list[str] = []
    nondeterministic_calls: set[str] = set()
    timing: set[str] = set()
    timed: set[str] = set()
    packages: set[str] = set()
    variables: set[str] = set()
    files: set[str] = set()
    texts: set[str] = set()
    hashes: bool = False
    complete: bool = True


def look_up(place: tuple[str, str], namespace: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """Return the value at a place; see ``Dependencies.names``.

    Raises:
        KeyError: The value no longer exists.
    """
    module, name = place
    return find_at(place) if module else namespace[name]
