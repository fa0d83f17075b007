"""Makes sure that a forked child does not use or close connections of its parent.

SQLite forbids both (https://www.sqlite.org/howtocorrupt.html, "Carrying an open database
connection across a fork()"): the child does not inherit the locks that the connection relies on,
and closing the connection may delete the log that the parent uses.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from typing import Any

# The databases whose methods are called around each fork.
_handlers: weakref.WeakSet[Any] = weakref.WeakSet()
_forks = 0


def register(handler: Any) -> None:  # noqa: ANN401 -- as the module of databases imports this one
    """Call methods of a database around every fork, until the database is deleted.

    The methods are ``before_fork`` and ``after_fork`` in the parent, and ``in_child`` in the child.
    """
    _handlers.add(handler)


def count() -> int:
    """Return how often this process has forked since this module was imported."""
    return _forks


def keep_forever(inherited: object) -> None:
    """Keep an object alive forever, so that it is never closed."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(inherited))


def _before() -> None:
    global _forks  # noqa: PLW0603 -- the process's
    _forks += 1
    for handler in [*_handlers]:
        handler.before_fork()


def _in_parent() -> None:
    for handler in [*_handlers]:
        handler.after_fork()


def _in_child() -> None:
    for handler in [*_handlers]:
        handler.in_child()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
