"""What a cell reads: the values and the code of the user's that its names lead to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from ipytorchseed.reads.patches import find_at

is_result = re.compile(r"_{1,3}|_\d+|_i{1,3}|_i\d+|Out|In").fullmatch
"""Tells names under which the shell keeps results of earlier cells, or their texts."""


_LONGEST = 32_000
"""Characters of a cell that is parsed: some 20 ms, and 100 ms for a list of digits."""


def is_too_long(source: str) -> bool:
    """Return whether the text of a cell is too long to be parsed."""
    return len(source) > _LONGEST


class Dependencies(Struct):
    """What a cell reads.

    Attributes:
        names: Where each value is found again: a module's name, or "" for the namespace, and the
            name in it.
        replaced: Those of ``names`` that the user put in place of what a package has there.
        missing: Names that it may look up and that are not there: builtins, and what is not set.
        writes: Names of the namespace that it, or a function it may call, sets.
        sets: Attributes of modules, and of classes of packages, that it, or a function it may
            call, sets; and where they are found, as for ``names``.
        actions: What its code, and code of the user's that it may call, does, in order: calls, by
            the names under which one would import them where these are known
            (``numpy.random.seed``, ``model.train``), attributes that it sets (``cfg.lr=``), names
            that it deletes (``del df``), imports (``import torch``), magics and shell commands as
            they are written.
        nondeterministic_calls: Functions it may call whose answer is new each time, as one would
            import them, and programs of their own that it runs, as in ``magics.Magic``.
        timing: Those of them that are clocks of which it only prints or keeps the readings.
        timed: Names of the namespace that will hold readings of clocks, or numbers and texts made
            of them, and nothing else; or addresses of objects. And those that hold such already,
            of which it makes no more than these.
        packages: Packages whose functions, classes or objects it reaches.
        variables: Names that functions it may call may ask the environment for.
        files: Files that it runs, in the notebook or as programs of their own.
        texts: Constants that may be names of files or folders.
        hashes: Whether its results may hang on the order of hashes.
        complete: False where there was too much to follow, or where it runs a text that is not
            known before.
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
    """Return the value at a place that ``find_dependencies`` named.

    Raises:
        KeyError: It is gone.
    """
    module, name = place
    return find_at(place) if module else namespace[name]
