"""Finds threads and widgets that a cell creates and that exist after it has ended."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from ipytorchseed.introspection.anatomy import module_of_class
from ipytorchseed.introspection.ownership import is_installed_file

THREAD, WIDGET = "thread", "widget"


def leftovers(before: set[tuple[str, object]]) -> tuple[str, ...]:
    """Return the kinds of objects that were created since ``before``.

    Args:
        before: The earlier objects, from ``running``.

    Returns:
        ``thread``, ``widget``, both or none.
    """
    return tuple(sorted({kind for kind, _ in {*running()} - before}))


def running() -> Iterator[tuple[str, object]]:
    """Yield the kind and id of each widget, and each thread that is not a library's."""
    for number, thread in list(threading._active.items()):  # type: ignore[attr-defined] # noqa: SLF001 -- enumerate() takes a lock that an interrupted thread may hold
        if not _is_of_library(thread):
            yield THREAD, number
    module: Any = sys.modules.get("comm")
    if module is not None:
        for name in list(getattr(module.get_comm_manager(), "comms", ())):
            yield WIDGET, name


def _is_of_library(thread: threading.Thread) -> bool:
    """Return whether a library started a thread for its own use, as progress bars do."""
    target = vars(thread).get("_target")
    if type(target) is FunctionType and is_installed_file(target.__code__.co_filename):
        return not target.__module__.startswith(_FOR_OTHERS)
    module = sys.modules.get(module_of_class(type(thread)))
    file = getattr(module, "__file__", None)
    return target is None and type(file) is str and is_installed_file(file)


# Modules whose threads run functions of other code.
_FOR_OTHERS = ("concurrent.", "multiprocessing.", "threading")
