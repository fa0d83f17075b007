"""Runs cells of recorded runs, and the magics of buttons, in the shell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from IPython.core.interactiveshell import InteractiveShell

from ipytorchseed.errors import ReplayError
from ipytorchseed.ledger.records import Run
from ipytorchseed.notebook.rerun import run_coroutine, without_tracebacks
from ipytorchseed.notebook.tracking import Tracking
from ipytorchseed.rng.generators import Found
from ipytorchseed.sandbox.replay import Scene


class Player:
    """Runs cells of recorded runs again.

    Args:
        shell: The running shell.
        tracking: The recording of its runs.
        generators: Finds the generators of its namespace.

    Attributes:
        shell: The running shell.
        tracking: The recording of its runs.
        busy: Whether it is at work.
    """

    def __init__(
        self, shell: InteractiveShell, tracking: Tracking, generators: Callable[[], list[Found]]
    ) -> None:
        self.shell = shell
        self.tracking = tracking
        self.busy = False
        self._generators = generators

    def scene(self) -> Scene:
        """Return what stands in this process for the cells to find."""
        return Scene(self.shell.user_ns, self.tracking.session.ledger, self._generators)

    @contextmanager
    def at_work(self, command: str) -> Iterator[None]:
        """Keep cells that run again from running others again.

        Args:
            command: What the user typed, for the error.

        Raises:
            ReplayError: It is at work.
        """
        if self.busy:
            raise ReplayError(f"this cell is being run again: take {command} out of the cell")
        self.busy = True
        try:
            yield
        finally:
            self.busy = False

    def run(
        self, again: Run, number: int | None, begin: Callable[[], None], *, quiet: bool
    ) -> Run | None:
        """Run a cell again, whatever becomes of it.

        Args:
            again: The run whose cell it is.
            number: The number in ``In[...]`` that the new run has, if it has one.
            begin: What we do before the cell.
            quiet: Show nothing of what it shows.

        Returns:
            The new run; None where it was not recorded.
        """
        execute = partial(self.shell.run_cell, again.source, store_history=False)
        with without_tracebacks(self.shell), self._awaiting(), self._quiet_as(again.source):
            return self.tracking.record(again, number, begin, execute, quiet=quiet)

    @contextmanager
    def _quiet_as(self, source: str) -> Iterator[None]:
        """Let the cell's own semicolon decide whether its value is shown, not that of this one."""
        typed: list[str] = getattr(self.shell.history_manager, "input_hist_parsed", [])
        own, typed[-1:] = typed[-1:], [source]  # the last one is what IPython looks at
        try:
            yield
        finally:
            typed[-1:] = own

    @contextmanager
    def _awaiting(self) -> Iterator[None]:
        """Have cells that await run to their end, though the kernel's loop runs this one."""
        shell = self.shell
        runner, shell.loop_runner = shell.loop_runner, run_coroutine
        try:
            yield
        finally:
            shell.loop_runner = runner
