"""Hides warnings that our own code causes, and pauses garbage collection."""

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


def uncollected(function: Callable[P, Result]) -> Callable[P, Result]:
    """Wrap a function so that no garbage is collected while it runs.

    Our allocations should not trigger a collection: it could run finalizers of user objects
    earlier than without this extension, and it takes time to visit all objects of the process.
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
