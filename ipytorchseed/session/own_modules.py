"""Finds the dependencies of a cell again, after it has imported user modules."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ipytorchseed.introspection.values import is_class, is_function, is_scalar, module_names
from ipytorchseed.reads.actions import imports_of
from ipytorchseed.reads.dependencies import Dependencies, look_up
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.following import find_dependencies

# An estimate of the seconds for following a module's code, for each character.
_SECONDS = 1e-6


def follow_again(  # noqa: PLR0913, PLR0917 -- what following code needs
    modules: Mapping[str, str],
    effects: Effects,
    namespace: Mapping[str, Any],
    hidden: Collection[str],
    seconds: float,
    follow: Callable[[str], Effects],
) -> tuple[Dependencies, dict[str, tuple[str, str]]]:
    """Return the dependencies of a cell after it ran, and attributes that were set.

    Args:
        modules: The files of user modules that the cell imported, by name.
        effects: The effects of the cell.
        namespace: The user's namespace.
        hidden: Names of the shell.
        seconds: The time limit for following code.
        follow: Returns the effects of code.

    Returns:
        The dependencies of the cell, empty if the imports cannot have changed them; and the
        attributes of packages that the cell or the modules set, as in ``Dependencies.sets``.
    """
    ends = time.thread_time() + seconds
    found = Dependencies()
    if modules or _sets_imported(effects):
        found = find_dependencies(effects, namespace, hidden, seconds=seconds)
    sets = dict(found.sets)
    for module, path in modules.items():
        if time.thread_time() > ends:
            break
        with suppress(OSError, ValueError, KeyError):
            text = Path(path).read_text(encoding="utf-8")
            in_time = time.thread_time() + len(text) * _SECONDS < ends
            if in_time and _sets_imported(code := follow(text)):
                names, left = module_names(sys.modules[module]), ends - time.thread_time()
                sets |= find_dependencies(code, names, hidden, seconds=max(left, 0.0)).sets
    return found, sets


def members_read(
    found: Dependencies, modules: Collection[str], namespace: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of functions, classes and scalars that a cell reads.

    Args:
        found: The dependencies of the cell.
        modules: Only members of these modules are included.
        namespace: The user's namespace.
    """
    for name, place in sorted(found.names.items()):
        if place[0] in modules and name not in found.sets:
            value = look_up(place, namespace)
            if is_function(value) or is_class(value) or is_scalar(value):
                yield name, value


def _sets_imported(code: Effects) -> bool:
    """Return whether code may set attributes of modules that it imports."""
    return bool(imports_of(code.actions)) and any(path.endswith("=") for path in code.paths)
