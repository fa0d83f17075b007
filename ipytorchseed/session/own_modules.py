"""Finds what a cell reads and sets now that it has imported modules of the user."""

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

# Seconds for each character of a module whose code is followed.
_SECONDS = 1e-6


def follow_again(  # noqa: PLR0913, PLR0917 -- what following code needs
    modules: Mapping[str, str],
    effects: Effects,
    namespace: Mapping[str, Any],
    hidden: Collection[str],
    seconds: float,
    follow: Callable[[str], Effects],
) -> tuple[Dependencies, dict[str, tuple[str, str]]]:
    """Return what a cell depends on after it ran, and what its imports set.

    Args:
        modules: The files of the user's modules that it imported, by name.
        effects: The effects of the cell's code.
        namespace: The user's names.
        hidden: The shell's names.
        seconds: How long to follow code.
        follow: Returns the effects of code.

    Returns:
        The dependencies of the cell's code, empty if it imported nothing that matters, and the
        attributes of packages that it or the modules set, as ``Dependencies.sets``.
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
    """Yield the members of modules that a cell reads, by name.

    Args:
        found: The cell's dependencies.
        modules: The names of the modules.
        namespace: The user's names.
    """
    for name, place in sorted(found.names.items()):
        if place[0] in modules and name not in found.sets:
            value = look_up(place, namespace)
            if is_function(value) or is_class(value) or is_scalar(value):
                yield name, value


def _sets_imported(code: Effects) -> bool:
    """Return whether code may set attributes of what it imports."""
    return bool(imports_of(code.actions)) and any(path.endswith("=") for path in code.paths)
