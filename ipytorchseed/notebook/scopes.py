"""The deterministic scopes of a shell, for a cell or for the rest of the session."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from msgspec import Struct, field

from ipytorchseed.determinism.alerts import Alert, note_alert
from ipytorchseed.determinism.interrupts import held_interrupts
from ipytorchseed.determinism.scope import deterministic
from ipytorchseed.introspection.replacing import Replacements
from ipytorchseed.notebook.interrupts import Interrupts
from ipytorchseed.notebook.location import Locator
from ipytorchseed.notebook.runs import Run, Runs
from ipytorchseed.trace.recorder import Recorder


class Scopes(Struct, eq=False):
    """Begins and ends deterministic scopes, and collects torch's alerts in them.

    Args:
        shell: The running shell.
        runs: The current runs.
        locator: Finds the line of a cell.
        hear: Called with torch's alerts, if there are any.
        interrupts: Holds those that arrive while a scope ends.
        follow: Records operations until a run ends.

    Attributes:
        session: The scope that ``%deterministic on`` began, or None.
    """

    _shell: InteractiveShell
    _runs: Runs
    _locator: Locator
    _hear: Callable[[list[Alert]], None]
    _interrupts: Interrupts
    _follow: Callable[[Run], Recorder]
    session: deterministic | None = None
    watch: Recorder | None = None
    _stopped: set[str] = set()
    _ends: list[tuple[Run | None, Callable[[], None]]] = []
    _replaced: Replacements = field(default_factory=Replacements)

    @property
    def in_cell(self) -> bool:
        """Whether a cell is running under ``%%deterministic``."""
        return bool(self._ends)

    def begin_cell(
        self, scope: deterministic, after: Callable[[deterministic], None] | None = None
    ) -> None:
        """Begin a scope that ends with the current run.

        Args:
            scope: The scope to begin.
            after: Called with the scope once everything is restored.
        """
        run = self._runs.current
        if run is None:  # the front end reports no runs: end at its next event
            self._runs.pre_execute()
            run = self._runs.current
        for cell, end in [*self._ends]:
            if cell is run:
                end()  # the line runs again, as under %%timeit
        scope.pick = self._locator.pick
        self._watch_backward(scope, run)
        self._interrupts.hold_cell()
        try:
            with held_interrupts():
                scope.begin()
                self._end_with(run, scope, after)
        finally:
            if not self._ends:
                self._interrupts.leave_cell()
        self._watch_errors()

    def switch_on(self, scope: deterministic) -> None:
        """Begin a scope for the rest of the session; it replaces an earlier one."""
        self.switch_off()
        scope.pick = self._locator.pick
        scope.begin()
        self.session = scope
        self._watch_errors()

    def switch_off(self) -> bool:
        """End the session's scope; return whether there was one."""
        scope, self.session = self.session, None
        if scope is None:
            return False
        try:
            scope.end()
        finally:
            self._watch_errors()
        self._hear(scope.alerts)
        return True

    def after_cell(self) -> None:
        """Pass on the alerts of a cell under ``%deterministic on --warn``."""
        if self.session is not None:
            self._hear(self.session.take_alerts())

    def _end_with(
        self, run: Run | None, scope: deterministic, after: Callable[[deterministic], None] | None
    ) -> None:
        """Make an active scope end once, with a run."""

        def end() -> None:
            if run is not None and end in run.on_end:
                run.on_end.remove(end)
            try:
                scope.end()
            finally:
                self._ends.remove((run, end))
                if not self._ends:
                    self._interrupts.leave_cell()
                self._watch_errors()
            self._hear(scope.alerts)
            if after is not None:
                after(scope)

        self._ends.append((run, end))
        if run is not None:
            run.on_end.append(end)

    def _watch_errors(self) -> None:
        """Add notes to torch's errors before they are shown, while a scope is active."""
        if not self._ends and self.session is None:
            self._replaced.put_back()
        elif not self._replaced:
            show = self._noting(self._shell.showtraceback)
            self._replaced.put(self._shell, "showtraceback", show)

    def _watch_backward(self, scope: deterministic, run: Run | None) -> None:
        """Record operations, so that alerts of backward passes name their forward lines.

        This takes time, so it is done only if alerts are listed, or if one stopped the cell before.
        """
        info = run.info if run is not None else None
        text = "" if info is None else str(info.raw_cell)
        if run is not None and text and (scope.warn or text in self._stopped):
            self.watch = self._follow(run)
            scope.forward = self._forward
            run.on_end.append(partial(setattr, self, "watch", None))

    def _forward(self) -> int | None:
        """Return the line of the forward operation during a backward pass."""
        place = self.watch.place if self.watch is not None else None
        return place.line or None if place is not None and place.backward else None

    def _note(self, error: BaseException) -> None:
        """Add a note to an error that is about to be shown."""
        forward = self._forward()
        note = note_alert(error, self._locator.pick, forward)
        run = self._runs.current
        if note is None or forward is not None or run is None or run.info is None:
            return
        if "in the backward pass" in note:
            self._stopped.add(str(run.info.raw_cell))
            error.add_note("run the cell again: its backward pass is then followed to the line")

    def _noting(self, show: Callable[..., None]) -> Callable[..., None]:
        def showtraceback(*args: Any, **kwargs: Any) -> None:
            error = sys.exc_info()[1]
            if error is not None:
                self._note(error)
            show(*args, **kwargs)

        return showtraceback
