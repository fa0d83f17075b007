"""Calls a function as a cell's code does: by name, in the namespace that it looks names up in."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

NAME = "_function_that_is_called"
"""The name, which goes with the last call."""

SHELLS = frozenset({"exit", "get_ipython", "open", "quit"})
"""What IPython puts into a notebook's namespace; a copy of it would be one of the whole shell."""


@contextmanager
def called_by_name(function: Callable[..., object]) -> Iterator[dict[str, Any]]:
    """Have a function stand among its global names as ``NAME``; of a closure, copies stand there.

    Yields:
        These names; those of ``__main__`` for what has none of its own.
    """
    names: dict[str, Any] = getattr(function, "__globals__", None) or vars(sys.modules["__main__"])
    names[NAME] = function
    try:
        yield names
    finally:
        del names[NAME]
