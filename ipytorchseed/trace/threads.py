"""Gives threads that the user's code starts a dispatch mode of their own."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class StartedThreads:
    """Gives each thread that is started meanwhile a dispatch mode of its own.

    Modes are a thread's own; torch hands them on to its autograd threads, not to Python's.

    Args:
        make: Returns the mode for a new thread, or None. Called in the starting thread, so that
            threads are told apart by the order in which they were started.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._start: Any = None

    def attach(self) -> None:
        """Begin to watch for new threads."""
        start = threading.Thread.start
        make = self._make

        def started(thread: threading.Thread) -> None:
            mode = make()
            if mode is not None:
                run = thread.run
                thread.run = lambda: _run(thread, run, mode)  # type: ignore[method-assign]
            start(thread)

        self._start, self._started = start, started
        threading.Thread.start = started  # type: ignore[method-assign, assignment]

    def detach(self) -> None:
        """Stop; threads under way keep their modes until they end."""
        if threading.Thread.start is self._started:
            threading.Thread.start = self._start  # type: ignore[method-assign]


def _run(thread: threading.Thread, run: Callable[[], None], mode: Any) -> None:  # noqa: ANN401
    """Run a thread with its mode on top of the others."""
    from torch.utils import _python_dispatch as dispatch

    vars(thread).pop("run", None)
    mode.begin()
    dispatch._push_mode(mode)  # noqa: SLF001 -- `with mode` would keep flags of the process
    try:
        run()
    finally:
        dispatch._pop_mode()  # noqa: SLF001 -- as above
