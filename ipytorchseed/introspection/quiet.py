"""Hides warnings that our own code causes, and pauses garbage collection."""

from __future__ import annotations

import gc
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def hidden_warnings(module: str, kind: type[Warning] = Warning) -> Iterator[None]:
    """Hide the warnings of one module while the block runs.

    The list of filters is changed directly. The functions of ``warnings`` would also forget which
    warnings were already shown, and those would be shown again.

    Args:
        module: The name of the module or of the compiled text.
        kind: The category of warnings to hide.
    """
    filters: Any = warnings.filters
    if type(filters) is not list:  # user code has replaced it
        filters = []
    hide = ("ignore", None, kind, re.compile(re.escape(module)), 0)
    filters.insert(0, hide)
    try:
        yield
    finally:
        if hide in filters:
            filters.remove(hide)


@contextmanager
def uncollected() -> Iterator[None]:
    """Collect no garbage while the block, or the decorated function, runs.

    Our allocations should not trigger a collection: it could run finalizers of user objects
    earlier than without this extension, and it takes time to visit all objects of the process.
    """
    was_enabled = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if was_enabled:
            gc.enable()
