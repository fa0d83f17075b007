"""The current runs, innermost last, and the calls to make when each ends.

IPython reports the beginning and end of runs by four events that do not always come in pairs. An
empty cell ends without beginning, and a silent one has no ``post_run_cell``. An interrupted one
ends with a different result object. Nested runs interleave, and widget callbacks may come from
other threads. This module matches each end with its beginning.
"""

from __future__ import annotations

import threading
from contextlib import ExitStack
from typing import Any

from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult


class Run(ExitStack):
    """A run that has not ended. Closing it makes the calls that were added to it.

    Attributes:
        info: IPython's description of it; None while unknown, and for silent runs.
    """

    info: ExecutionInfo | None = None


class Runs(threading.local):
    """The current runs of each thread.

    Attributes:
        overlaps: Whether this thread's cell began while another thread ran one.
    """

    def __init__(self) -> None:
        self.overlaps = False
        self._stack: list[Run] = []

    @property
    def current(self) -> Run | None:
        """The innermost current run of this thread."""
        return self._stack[-1] if self._stack else None

    @property
    def nested(self) -> bool:
        """Whether the innermost run is inside another run."""
        return sum(run.info is not None for run in self._stack) > 1

    @property
    def busy(self) -> bool:
        """Whether a cell is running."""
        return any(run.info is not None for run in self._stack)

    def pre_execute(self) -> Run:
        """Record that something begins: a cell, a silent request or a callback."""
        self._stack.append(Run())
        return self._stack[-1]

    def pre_run_cell(self, info: ExecutionInfo) -> None:
        """Record which cell begins."""
        if not self._stack or self._stack[-1].info is not None:
            self._stack.append(Run())
        self._stack[-1].info = info

    def post_execute(self) -> None:
        """End a silent run or a callback; cells end in ``post_run_cell``."""
        if self._stack and self._stack[-1].info is None:
            self._end(self._stack[-1])

    def post_run_cell(self, result: ExecutionResult | None) -> None:
        """End the run that this result belongs to, and runs left open inside it."""
        for run in reversed(self._stack):
            if run.info is not None and _belongs(result, run.info):
                self._end(run)
                return

    def end_all(self) -> None:
        """End every run of this thread, as at unload."""
        if self._stack:
            self._end(self._stack[0])

    def _end(self, run: Run) -> None:
        at = self._stack.index(run)
        with ExitStack() as ended:  # the innermost run ends first
            for each in self._stack[at:]:
                ended.callback(each.close)
            del self._stack[at:]


def _belongs(result: Any, info: ExecutionInfo) -> bool:  # noqa: ANN401 -- ExecutionResult or None
    if result is None or result.info is info:  # None: ipykernel, where an await was interrupted
        return True
    # An interrupted run ends with a new info made from the same cell.
    return bool(info.raw_cell) and result.info.raw_cell == info.raw_cell
