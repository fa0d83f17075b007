"""The runs under way, innermost last, and what to do when each ends.

IPython tells of the beginning and end of runs by four events that do not always come in pairs: an
empty cell ends without having begun, a silent one has no ``post_run_cell``, an interrupted one ends
with another result object than it began with, nested runs interleave, and callbacks of widgets may
come from other threads. Here each end finds its beginning.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult


class Run:
    """One run under way.

    Args:
        assumed: Whether its beginning was not seen.

    Attributes:
        info: What IPython says of it; None while unknown, and for silent runs.
        on_end: What to call when it ends, last added first.
    """

    __slots__ = ("assumed", "info", "on_end")

    def __init__(self, *, assumed: bool = False) -> None:
        self.assumed = assumed
        self.info: ExecutionInfo | None = None
        self.on_end: list[Callable[[], None]] = []

    def end(self) -> None:
        """Make all calls; an error in one keeps none of the others from its turn."""
        if self.on_end:
            call = self.on_end.pop()
            try:
                call()
            finally:
                self.end()


class Runs(threading.local):
    """The runs under way in each thread.

    Attributes:
        beside: Whether this thread's cell began while one ran in another thread.
    """

    def __init__(self) -> None:
        self.beside = False
        self._stack: list[Run] = []

    @property
    def current(self) -> Run | None:
        """The innermost run under way in this thread."""
        return self._stack[-1] if self._stack else None

    @property
    def nested(self) -> bool:
        """Whether the innermost run was started from inside another one."""
        return len(self._stack) > 1 and sum(run.info is not None for run in self._stack) > 1

    @property
    def busy(self) -> bool:
        """Whether a cell is under way."""
        return any(run.info is not None for run in self._stack)

    def assume(self) -> None:
        """Record that a cell may be under way whose beginning was not seen."""
        self._stack.append(Run(assumed=True))

    def pre_execute(self) -> None:
        """Record that something begins: a cell, a silent one, or a callback."""
        self._stack.append(Run())

    def pre_run_cell(self, info: ExecutionInfo) -> None:
        """Record that it is a cell, and which."""
        if not self._stack or self._stack[-1].info is not None:
            self._stack.append(Run())
        self._stack[-1].info = info
        if len(self._stack) > 1 and self._stack[0].assumed and info.store_history:
            self._stack.pop(0).end()  # a front end's next cell has begun: there was none

    def post_execute(self) -> None:
        """End a silent run or a callback; a cell's end is reported by ``post_run_cell``."""
        if self._stack and self._stack[-1].info is None:
            self._end(self._stack[-1])

    def post_run_cell(self, result: ExecutionResult | None) -> None:
        """End the run that this result belongs to, and those left open inside it."""
        for run in reversed(self._stack):
            if run.info is not None and _belongs(result, run.info):
                self._end(run)
                return

    def end(self, run: Run | None) -> None:
        """End a run that was begun by hand, and those left open inside it."""
        if run in self._stack:
            self._end(run)

    def end_all(self) -> None:
        """End every run of this thread, as when the extension is switched off."""
        if self._stack:
            self._end(self._stack[0])

    def _end(self, last: Run | None) -> None:
        if self._stack:
            run = self._stack.pop()
            try:
                run.end()
            finally:
                if run is not last:
                    self._end(last)


def _belongs(result: Any, info: ExecutionInfo) -> bool:  # noqa: ANN401 -- ExecutionResult or None
    if result is None or result.info is info:  # None: ipykernel, where an await was interrupted
        return True
    # An interrupted run ends with a new info made from the same cell.
    return bool(info.raw_cell) and result.info.raw_cell == info.raw_cell
