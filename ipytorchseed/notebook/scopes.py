"""Begins deterministic scopes and traces in the running cell, and finds its lines."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from functools import partial
from itertools import takewhile
from traceback import walk_stack
from typing import Any

import click
from IPython.display import display
from msgspec import Struct

from ipytorchseed.determinism.alerts import Alert, Place, note_alert
from ipytorchseed.determinism.interrupts import held_interrupts
from ipytorchseed.determinism.scope import deterministic
from ipytorchseed.errors import TraceError
from ipytorchseed.introspection.replacing import Replacements
from ipytorchseed.ledger.records import Draw, Operation, Trace
from ipytorchseed.notebook.runs import Run
from ipytorchseed.notebook.state import State
from ipytorchseed.notebook.transform import HEAD
from ipytorchseed.render.scope import AlertTable
from ipytorchseed.render.values import pick
from ipytorchseed.trace.draws import Drawn, Draws, LineDraws
from ipytorchseed.trace.places import Lines
from ipytorchseed.trace.recorder import Recorder
from ipytorchseed.why.words import many

_DEBUGGED = "a debugger is running, so the lines of python's and numpy's draws are unknown"


class Cell(Struct, frozen=True):
    """A cell that can be run again.

    Attributes:
        source: Its text.
        text: Its text as Python.
        file: The file name that it was compiled with.
        lines: Finds the cell's line on the stack.
    """

    source: str
    text: str
    file: str
    lines: Lines


def cell_of(state: State, run: Run) -> Cell:
    """Return the cell of a run, ready to be run again."""
    shell: Any = state.shell
    source, names = _text_of(run), shell.user_ns
    text = getattr(run.info, "transformed_cell", None) or str(shell.transform_cell(source))
    # the user's innermost frame that has source text
    frames = (frame for frame, _ in walk_stack(sys._getframe(1)))  # noqa: SLF001 -- documented
    users = (frame.f_code.co_filename for frame in frames if frame.f_globals is names)
    file = next(filter(linecache.getlines, users), "")
    heads = (line for line in source.splitlines() if line.startswith("%%"))
    taken = any(not HEAD.match(head) for head in heads)
    place = partial(pick_place, state, text=source) if taken else None
    return Cell(source, text, file, Lines(file, names, place))


def _text_of(run: Run | None) -> str:
    return "" if run is None or run.info is None else str(run.info.raw_cell)


def pick_place(state: State, stack: list[Place], text: str | None = None) -> Place | None:
    """Return the frame on a stack that runs the cell, with its line in the cell.

    ``%%time`` runs the lines below it as code without a file, so the number of lines above is
    added. ``%time`` runs the rest of its line in the same way; the line of ``%time`` is returned.

    Args:
        state: The state of the extension in the shell.
        stack: Frames and their lines, innermost first.
        text: The cell's text; None for the text of the current run.
    """
    users = [place for place in stack if place[0].f_globals is state.shell.user_ns]
    codes = [frame.f_code for frame, _ in users]
    files = [code.co_filename for code in codes]
    modules = [code.co_filename for code in codes if code.co_name == "<module>"]
    texts = list(takewhile(lambda file: not linecache.getlines(file), modules))
    above = _lines_above(_text_of(state.runs.current) if text is None else text) if texts else 0
    if above:
        frame, line = users[files.index(texts[-1])]
        return frame, line + above
    cells = modules[len(texts) :]
    return users[files.index(cells[0])] if cells else next(iter(users), None)


def _lines_above(text: str) -> int:
    """Count the lines of a cell above the text that ``%%time`` or similar runs."""
    lines = text.splitlines()
    heads = enumerate(takewhile(lambda line: line.startswith("%%"), lines), 1)
    above = max((n for n, head in heads if not HEAD.match(head)), default=0)
    # IPython drops empty lines at the beginning of the text that such a magic runs.
    empty = takewhile(lambda line: not line.strip(), lines[above:]) if above else ()
    return above + sum(1 for _ in empty)


def begin_trace(state: State, path: str, *, summaries: bool, quiet: bool) -> None:
    """Record each operation in the rest of the current run.

    Args:
        state: The state of the extension in the shell.
        path: The file to write operations to; empty for none.
        summaries: Whether the file stores what a comparison with a tolerance needs.
        quiet: Whether to print nothing.

    Raises:
        UsageError: The file cannot be written, or no cell is running.
    """
    from ipytorchseed.trace.file import TraceFile  # imports numpy

    run, names = state.runs.current, state.shell.user_ns
    if run is None or run.info is None:
        raise click.UsageError("--trace needs a separate cell; this code runs without one")
    cell, draws = cell_of(state, run), Draws(names, count=True)
    try:
        file = TraceFile(path, summaries=summaries) if path else None
    except TraceError as error:
        raise click.UsageError(str(error)) from None
    recorder = Recorder(cell.lines, names, draws=draws, trace=file)
    by_line = LineDraws(cell.file)

    def end() -> None:
        by_line.detach()
        recorder.__exit__(None, None, None)
        pending = state.tracking.session.pending
        if file is not None and not quiet:
            click.echo(f"{many(file.count, 'operation')} recorded in {file.path}")
        if pending is not None and pending.execution_count is not None and not quiet:
            click.echo(f"Who drew how much: %rng who {pending.execution_count}")
        if by_line.refused:
            recorder.notes.append(_DEBUGGED)
        drawn = tuple(map(_draw, (*draws.drawn, *by_line.drawn)))
        state.note(Trace(traced=recorder.count, draws=drawn, notes=tuple(recorder.notes)))

    recorder.__enter__()
    run.callback(end)
    by_line.attach(sys._getframe(1))  # noqa: SLF001 -- the documented way to it


def _draw(drawn: Drawn) -> Draw:
    place, told = drawn.place, pick(drawn, "source", "operation", "calls", "numbers")
    module = place.module or drawn.by
    return Draw(line=place.line or None, module=module, backward=place.backward, **told)


class Scopes:
    """The deterministic scopes of a shell, and torch's alerts in them.

    Args:
        state: The state of the extension in the shell.

    Attributes:
        session: The scope that ``%deterministic on`` began, or None.
        ends: For each run under ``%%deterministic``, the function that ends its scope.
    """

    def __init__(self, state: State) -> None:
        self.session: deterministic | None = None
        self._state = state
        self._pick = partial(pick_place, state)
        self.ends: dict[Run, Callable[[], None]] = {}
        self._replaced = Replacements()
        state.before_record.append(self._after_cell)
        state.at_unload.append(lambda: "%deterministic on" if self.switch_off() else "")

    def begin_cell(self, scope: deterministic, after: Callable[[deterministic], None]) -> None:
        """Begin a scope that ends with the current run.

        Args:
            scope: The scope to begin.
            after: Called with the scope once everything is restored.
        """
        runs = self._state.runs  # if no run is reported, the scope ends at the next event
        run = runs.current or runs.pre_execute()
        self.ends.get(run, lambda: None)()  # the line runs again, as under %%timeit
        scope.pick = self._pick
        if scope.warn and run.info is not None:  # recording the forward pass takes time
            recorder = Recorder(cell_of(self._state, run).lines, self._state.shell.user_ns)
            scope.forward = partial(_forward_line, run.enter_context(recorder))

        def end_once() -> None:
            if self.ends.get(run) is not end_once:
                return
            try:
                scope.end()
            finally:
                del self.ends[run]
                self._update()
            self._report_alerts(scope.alerts)
            after(scope)

        self._state.interrupts.hold_cell()
        try:
            with held_interrupts():
                scope.begin()
                self.ends[run] = end_once
                run.callback(end_once)
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
        if scope is not None:
            try:
                scope.end()
            finally:
                self._update()
            self._report_alerts(scope.alerts)
        return scope is not None

    def _after_cell(self) -> None:
        """Report the alerts of a cell under ``%deterministic on --warn``."""
        if self.session is not None:
            self._report_alerts(self.session.take_alerts())

    def _report_alerts(self, alerts: list[Alert]) -> None:
        """Show torch's alerts, and store them for the record of the current run."""
        if alerts:
            display(AlertTable(alerts))
            self._state.note(Trace(operations=tuple(map(_operation, alerts))))

    def _update(self) -> None:
        """While a scope is active, add notes to torch's errors before they are shown."""
        if not self.ends:
            self._state.interrupts.leave_cell()
            if self.session is None:
                self._replaced.put_back()
                return
        if not self._replaced:
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

    known, backward = hasattr(torch.ops.aten, alert.operation), alert.forward is not None
    name, line = f"{'aten::' * known}{alert.operation}", alert.forward if backward else alert.line
    return Operation(operation=name, line=line, code=alert.code, backward=backward, how="alert")
