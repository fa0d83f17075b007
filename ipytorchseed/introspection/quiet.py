"""Hides warnings that inspecting a process causes, and pauses garbage collection."""

from __future__ import annotations

import functools
import gc
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
Result = TypeVar("Result")


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


def uncollected(function: Callable[P, Result]) -> Callable[P, Result]:
    """Return a function during which no garbage is collected.

    Otherwise our allocations would decide when the user's objects end, whose code may run then.
    Our time would also include a walk through all objects of the process.
    """

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> Result:
        if not gc.isenabled():
            return function(*args, **kwargs)
        try:
            gc.disable()
            return function(*args, **kwargs)
        finally:
            gc.enable()

    return called
