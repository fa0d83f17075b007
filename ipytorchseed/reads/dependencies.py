"""The values and the user's code that a cell reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from ipytorchseed.reads.patches import find_at

# Matches names under which the shell keeps results or texts of earlier cells.
is_result = re.compile(r"_{1,3}|_\d+|_i{1,3}|_i\d+|Out|In").fullmatch


# Characters of a cell; parsing them takes about 20 ms, or 100 ms for a list of digits.
_MAX_LENGTH = 32_000


def is_too_long(source: str) -> bool:
    """Return whether the text of a cell is too long to be parsed."""
    return len(source) > _MAX_LENGTH


class Dependencies(Struct):
    """What a cell reads.

    Attributes:
        names: Where to look up each value: a module's name, or "" for the namespace, and the name
            in it.
        replaced: Those of ``names`` with which the user replaced a package's original.
        missing: Names that it may read but that do not exist: builtins and unset names.
        writes: Names of the namespace that it, or a function it may call, sets.
        sets: Attributes of modules, and of classes of packages, that it, or a function it may call,
            sets; and where they are found, as for ``names``.
        actions: What its code, and the user's code that it may call, does, in order: calls, by
            their import names if known (``numpy.random.seed``, ``model.train``), attributes that it
            sets (``cfg.lr=``), names that it deletes (``del df``), imports (``import torch``),
            magics and shell commands as written.
        nondeterministic_calls: Functions it may call whose result differs each time, by their
            import names, and external programs that it runs, as in ``magics.Magic``.
        timing: Those of them that are clocks, if it only prints or keeps their readings.
        timed: Names of the namespace that will hold only readings of clocks, numbers and strings
            computed from them, or addresses of objects. Also names that hold such values already,
            if the cell only computes more such values from them.
        packages: Packages whose functions, classes or objects it reaches.
        variables: Environment variables that functions it may call may read.
        files: Files that it runs, in the notebook or as separate programs.
        texts: String constants that may be names of files or folders.
        hashes: Whether its results may depend on hash order.
        complete: False if there was too much to follow, or if it runs a string that is unknown.
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
    """Return the value at a place that ``find_dependencies`` found.

    Raises:
        KeyError: The value no longer exists.
    """
    module, name = place
    return find_at(place) if module else namespace[name]
