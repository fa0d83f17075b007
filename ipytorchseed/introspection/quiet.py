"""Hides warnings that are caused by looking at a process."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def hidden_warnings(module: str, kind: type[Warning] = Warning) -> Iterator[None]:
    """Hide warnings that a module gives while the block runs; nobody else's.

    The list of filters is changed past ``warnings``, which would show again what it showed once.

    Args:
        module: Its name, or that of the text that is compiled.
        kind: Which warnings.
    """
    filters: Any = warnings.filters
    if type(filters) is not list:  # a user's cell put something else there
        filters = []
    hide = ("ignore", None, kind, re.compile(re.escape(module)), 0)
    filters.insert(0, hide)
    try:
        yield
    finally:
        if hide in filters:
            filters.remove(hide)
