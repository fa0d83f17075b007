"""Finds what a cell reads and sets in user modules that it is the first to import."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ipytorchseed.introspection.values import is_class, is_function, is_scalar, module_names
from ipytorchseed.reads.dependencies import Dependencies, look_up
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.following import find_dependencies

# Seconds for each character of a module whose code is followed.
_SECONDS = 1e-6


def read_there(  # noqa: PLR0913, PLR0917 -- what following code needs
    modules: Collection[str],
    effects: Effects,
    namespace: Mapping[str, Any],
    hidden: Collection[str],
    seconds: float,
    known: Dependencies,
) -> Iterator[tuple[str, Any]]:
    """Yield the members of modules that a cell reads, by name.

    Args:
        modules: Their names.
        effects: The effects of the cell's code.
        namespace: The user's names.
        hidden: The shell's names.
        seconds: How long to follow its code.
        known: What was found before the modules were imported. Gets the nondeterministic calls of
            their code.
    """
    found = find_dependencies(effects, namespace, hidden, seconds=seconds)
    known.nondeterministic_calls |= found.nondeterministic_calls
    known.hashes |= found.hashes
    for name, place in sorted(found.names.items()):
        if place[0] in modules and name not in found.sets:
            value = look_up(place, namespace)
            if is_function(value) or is_class(value) or is_scalar(value):
                yield name, value


def set_in_packages(  # noqa: PLR0913, PLR0917 -- as above
    modules: Mapping[str, str],
    effects: Effects,
    namespace: Mapping[str, Any],
    hidden: Collection[str],
    seconds: float,
    follow: Callable[[str], Effects],
) -> dict[str, tuple[str, str]]:
    """Return the attributes of packages that a cell, or modules that it imported, set.

    Args:
        modules: The files of the modules, by name.
        effects: The effects of the cell's code.
        namespace: The user's names.
        hidden: The shell's names.
        seconds: How long to follow code.
        follow: Returns the effects of code.

    Returns:
        As ``Dependencies.sets``.
    """
    ends = time.thread_time() + seconds
    codes = [(effects, namespace)]
    for module, path in modules.items():
        if time.thread_time() > ends:
            break
        with suppress(OSError, ValueError, KeyError):
            text = Path(path).read_text(encoding="utf-8")
            if time.thread_time() + len(text) * _SECONDS < ends:
                codes.append((follow(text), module_names(sys.modules[module])))
    found: dict[str, tuple[str, str]] = {}
    for code, names in codes:
        if code.imports and any(path.endswith("=") for path in code.paths):
            left = max(ends - time.thread_time(), 0.0)
            found |= find_dependencies(code, names, hidden, seconds=left).sets
    return found
