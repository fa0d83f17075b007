"""Pauses garbage collection while the process is inspected."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
Result = TypeVar("Result")


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
