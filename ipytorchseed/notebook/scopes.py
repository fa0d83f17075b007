"""The deterministic scopes of a shell, for a cell or for the rest of the session."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from IPython.display import display

from ipytorchseed.determinism.alerts import Alert, note_alert
from ipytorchseed.determinism.interrupts import held_interrupts
from ipytorchseed.determinism.scope import deterministic
from ipytorchseed.introspection.replacing import Replacements
from ipytorchseed.ledger.records import Operation, Trace
from ipytorchseed.notebook.runs import Run
from ipytorchseed.notebook.state import State
from ipytorchseed.notebook.traces import follow, pick_place
from ipytorchseed.render.scope import AlertTable
from ipytorchseed.trace.recorder import Recorder


class Scopes:
    """Begins and ends deterministic scopes, and collects torch's alerts in them.

    Args:
        state: The state of the extension in the shell.

    Attributes:
        session: The scope that ``%deterministic on`` began, or None.
    """

    def __init__(self, state: State) -> None:
        self.session: deterministic | None = None
        self._state = state
        self._pick = partial(pick_place, state)
        self._ends: list[tuple[Run, Callable[[], None]]] = []
        self._replaced = Replacements()
        state.before_record.append(self._after_cell)
        state.at_unload.append(lambda: "%deterministic on" if self.switch_off() else "")

    @property
    def in_cell(self) -> bool:
        """Whether a cell is running under ``%%deterministic``."""
        return bool(self._ends)

    def begin_cell(self, scope: deterministic, after: Callable[[deterministic], None]) -> None:
        """Begin a scope that ends with the current run.

        Args:
            scope: The scope to begin.
            after: Called with the scope once everything is restored.
        """
        runs = self._state.runs  # if no run is reported, the scope ends at the next event
        run = runs.current or runs.pre_execute()
        for cell, end in [*self._ends]:
            if cell is run:
                end()  # the line runs again, as under %%timeit
        scope.pick = self._pick
        if scope.warn and run.info is not None:  # recording the forward pass takes time
            scope.forward = partial(_forward_line, follow(self._state, run))

        def end_once() -> None:
            if end_once in run.on_end:
                run.on_end.remove(end_once)
            try:
                scope.end()
            finally:
                self._ends.remove((run, end_once))
                self._update()
            self._report_alerts(scope.alerts)
            after(scope)

        self._state.interrupts.hold_cell()
        try:
            with held_interrupts():
                scope.begin()
                self._ends.append((run, end_once))
                run.on_end.append(end_once)
        finally:
            self._update()

    def switch_on(self, scope: deterministic) -> None:
        """Begin a scope for the rest of the session; it replaces an earlier one."""
        self.switch_off()
        scope.pick = self._pick
        scope.begin()
        self.session = scope
        self._update()

    def switch_off(self) -> bool:
        """End the session's scope; return whether there was one."""
        scope, self.session = self.session, None
        if scope is None:
            return False
        try:
            scope.end()
        finally:
            self._update()
        self._report_alerts(scope.alerts)
        return True

    def _after_cell(self) -> None:
        """Pass on the alerts of a cell under ``%deterministic on --warn``."""
        if self.session is not None:
            self._report_alerts(self.session.take_alerts())

    def _report_alerts(self, alerts: list[Alert]) -> None:
        """Show torch's alerts, and store them for the record of the current run."""
        if alerts:
            display(AlertTable(alerts, self._state.tracking.find_unseeded()))
            self._state.note(Trace(operations=tuple(map(_operation, alerts))))

    def _update(self) -> None:
        """While a scope is active, add notes to torch's errors before they are shown."""
        if not self._ends:
            self._state.interrupts.leave_cell()
        if not self._ends and self.session is None:
            self._replaced.put_back()
        elif not self._replaced:
            shown = self._state.shell.showtraceback

            def showtraceback(*args: Any, **kwargs: Any) -> None:
                error = sys.exc_info()[1]
                if error is not None:
                    note_alert(error, self._pick)
                shown(*args, **kwargs)

            self._replaced.put(self._state.shell, "showtraceback", showtraceback)


def _forward_line(watch: Recorder) -> int | None:
    """Return the line of the forward operation during a backward pass."""
    place = watch.place
    return place.line or None if place is not None and place.backward else None


def _operation(alert: Alert) -> Operation:
    import torch

    known = hasattr(torch.ops.aten, alert.operation)
    return Operation(
        operation=f"aten::{alert.operation}" if known else alert.operation,
        line=alert.line if alert.forward is None else alert.forward,
        code=alert.code,
        backward=alert.forward is not None,
        how="alert",
    )
