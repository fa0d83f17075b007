"""Hides warnings that inspecting a process causes."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def hidden_warnings(module: str, kind: type[Warning] = Warning) -> Iterator[None]:
    """Hide the warnings of one module while the block runs.

    The list of filters is changed directly: a change through ``warnings`` would show warnings
    again that were shown once.

    Args:
        module: Its name, or the name of the compiled text.
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
