"""``--check`` and ``--trace`` of a shell.

They begin on the cell's first line and end after its run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NoReturn

import click
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from msgspec import Struct

from ipytorchseed.determinism.alerts import Alert
from ipytorchseed.errors import TraceError
from ipytorchseed.experiment.check import Check
from ipytorchseed.experiment.imports import find_reached
from ipytorchseed.experiment.process import say_restored
from ipytorchseed.experiment.repeating import RepeatedCell
from ipytorchseed.experiment.verdict import Checked
from ipytorchseed.ledger.records import Draw, Operation, Trace
from ipytorchseed.ledger.records import Run as Record
from ipytorchseed.notebook.errors import raised
from ipytorchseed.notebook.interrupts import Interrupts
from ipytorchseed.notebook.location import Locator
from ipytorchseed.notebook.progress import Progress
from ipytorchseed.notebook.rerun import left_as_before, run_code, shown_by
from ipytorchseed.notebook.runs import Run, Runs
from ipytorchseed.notebook.seeding import Seeding
from ipytorchseed.notebook.streams import OutputCapture
from ipytorchseed.notebook.tracking import Tracking
from ipytorchseed.reads.cell import effects_of_cell
from ipytorchseed.render.check import CheckView
from ipytorchseed.render.values import pick
from ipytorchseed.rng.snapshot import Snapshot, restore, snapshot
from ipytorchseed.rng.table import seed_all
from ipytorchseed.session.asking import why
from ipytorchseed.session.outputs import OutputWatch, outputs_of
from ipytorchseed.trace.draws import Draws, LineDraws
from ipytorchseed.trace.recorder import Recorder
from ipytorchseed.why.words import many, say_effects

if TYPE_CHECKING:
    from ipytorchseed.trace.file import TraceFile  # imports numpy

_AS_AFTER = "as after one run of the cell"

_INPUT = ("input", "getpass.getpass")


class _Under(Struct, eq=False):
    """A running cell that is checked."""

    run: Run
    check: Check
    outputs: OutputWatch
    recorded: OutputWatch | None
    capture: OutputCapture
    progress: Progress
    before: Snapshot | None
    as_json: bool
    ended: bool = False


class Checks(Struct, eq=False):
    """The checks and traces of a shell.

    Args:
        shell: The running shell.
        runs: The current runs.
        locator: Finds the cell of a run.
        tracking: The recording of runs.
        interrupts: Lets Ctrl-C through while the cell runs again.
        seeding: What ``%seed`` put in force.

    Attributes:
        rerunning: Whether a cell's code is being rerun; the extension is then inactive.
    """

    _shell: InteractiveShell
    _runs: Runs
    _locator: Locator
    _tracking: Tracking
    _interrupts: Interrupts
    _seeding: Seeding
    rerunning: bool = False
    _under: list[_Under] = []
    _found: list[Trace] = []

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Keep the extension inactive in the block, which reruns a cell's code."""
        before, self.rerunning = self.rerunning, True
        try:
            yield
        finally:
            self.rerunning = before

    # -- check -------------------------------------------------------------------------------------

    @property
    def under_way(self) -> bool:
        """Whether the running cell is being checked."""
        return any(under.run is self._runs.current for under in self._under)

    def begin(self, seed: int | None, runs: int, *, isolate: bool, as_json: bool) -> None:
        """Begin to check the running cell.

        Args:
            seed: The seed to apply first, or None.
            runs: How often the cell runs.
            isolate: Whether to restore every source afterwards.
            as_json: Whether the result is printed as JSON.

        Raises:
            UsageError: It cannot be checked; no code of it has run yet.
        """
        shell, run = self._shell, self._runs.current
        if run is None or run.info is None:
            _refuse("--check needs a separate cell; this code runs without one")
        if self.under_way:
            _refuse("--check runs the cell several times itself: remove the magic that repeats it")
        cell = self._locator.cell(run)
        effects = effects_of_cell(cell.source, lambda _: cell.text)
        if any(name in effects.calls for name in _INPUT):
            _refuse(
                "the cell waits for input, which its further runs would not be given. Ask for it in"
                " a cell above"
            )
        hidden = frozenset(shell.user_ns_hidden)
        dependencies = find_reached(cell.source, lambda _: cell.text, shell.user_ns, hidden)
        before = snapshot() if isolate else None
        if seed is not None:
            seed_all(seed)
            self._tracking.note_seed(seed, "scope")
        progress = Progress(shell, silent=as_json)
        outputs = outputs_of(cell.source, dependencies.nondeterministic_calls)
        repeated = RepeatedCell(
            shell.user_ns,
            dependencies,
            partial(run_code, shell, cell.text, cell.file, outputs),
            lines=cell.lines,
            source=cell.source,
            hidden=hidden,
            progress=progress.tell,
        )
        pending = self._tracking.session.pending
        under = _Under(
            run=run,
            check=Check(repeated, runs),
            outputs=outputs,
            recorded=None if pending is None else pending.outputs,
            capture=OutputCapture(shell, lambda: outputs),
            progress=progress,
            before=before,
            as_json=as_json,
        )
        self._under.append(under)
        run.on_end.append(partial(self._end, under))
        under.capture.start()

    def finish(self, result: ExecutionResult | None, record: Record | None) -> None:
        """Check the cells whose own runs have ended, and show the results.

        Args:
            result: The result of the run that ended.
            record: Its record, if it has one.
        """
        effects = [] if record is None else say_effects(record.outside)
        for under in [under for under in self._under if under.ended]:
            self._under.remove(under)
            try:
                self._finish(under, result, effects, record)
            finally:
                if under.before is not None:
                    restore(under.before)

    def _end(self, under: _Under) -> None:
        """Record that a cell's own run has ended."""
        under.capture.stop()
        under.ended = True

    def _finish(
        self,
        under: _Under,
        result: ExecutionResult | None,
        effects: list[str],
        record: Record | None,
    ) -> None:
        error = raised(result)
        if result is None or error is not None:
            if not under.as_json:
                name = "KeyboardInterrupt" if error is None else type(error).__name__
                click.echo(f"Not checked: the cell ended with {name}. It ran once.")
            return
        if under.recorded is not None and under.recorded.in_part:  # such as output of programs
            under.outputs.passed_by()
        shown = shown_by(under.outputs, result.result)
        check, shell, stays = under.check, self._shell, list[str]()
        try:
            with (
                left_as_before(shell, self._seeding, lambda: check.stays, stays),
                under.progress,
                self.at_work(),
            ):
                check.first(shown, effects)
                checked = check.finish()
        except KeyboardInterrupt:
            self._interrupts.note()
            said = say_restored("Everything is", stays).replace("as before", _AS_AFTER)
            click.echo(f"The check was interrupted. {said}.")
            return
        session = self._tracking.session
        changed = None if record is None else why(session, record)
        view = CheckView(checked, changed, session.kernel)
        if under.as_json:
            click.echo(view.to_json())
        else:
            under.progress.conclude(view)
        self._found.append(_trace_of(checked))

    # -- trace -------------------------------------------------------------------------------------

    def follow(self, run: Run) -> Recorder:
        """Track which lines operations come from until a run ends, without storing it."""
        names = self._shell.user_ns
        recorder = Recorder(self._locator.cell(run).lines, names)
        recorder.__enter__()
        run.on_end.append(lambda: recorder.__exit__(None, None, None))
        return recorder

    def begin_trace(self, path: str, *, summaries: bool, quiet: bool) -> None:
        """Record each operation in the rest of the current run.

        Args:
            path: The file to write operations to; empty for none.
            summaries: Whether the file stores what a comparison with a tolerance needs.
            quiet: Whether to print nothing.

        Raises:
            UsageError: The file cannot be written.
        """
        from ipytorchseed.trace.file import TraceFile

        run = self._runs.current
        if run is None or run.info is None:
            _refuse("--trace needs a separate cell; this code runs without one")
        names = self._shell.user_ns
        cell = self._locator.cell(run)
        draws = Draws(names, count=True)
        file = None
        if path:
            try:
                file = TraceFile(path, summaries=summaries)
            except TraceError as error:
                _refuse(str(error))
        recorder = Recorder(cell.lines, names, draws=draws, trace=file)
        by_line = LineDraws(cell.file)
        recorder.__enter__()
        run.on_end.append(partial(self._end_trace, recorder, draws, by_line, file, quiet=quiet))
        by_line.attach(sys._getframe(1))  # noqa: SLF001 -- the documented way to it

    def _end_trace(
        self,
        recorder: Recorder,
        draws: Draws,
        by_line: LineDraws,
        file: TraceFile | None,
        *,
        quiet: bool,
    ) -> None:
        by_line.detach()
        recorder.__exit__(None, None, None)
        if file is not None and not quiet:
            click.echo(f"{many(file.count, 'operation')} recorded in {file.path}")
        pending = self._tracking.session.pending
        if pending is not None and pending.execution_count is not None and not quiet:
            click.echo(f"Who drew how much: %rng who {pending.execution_count}")
        if by_line.refused:
            recorder.notes.append(
                "a debugger is running, so the lines of python's and numpy's draws are unknown"
            )
        drawn = tuple(
            Draw(
                line=each.place.line or None,
                module=each.place.module or each.by,
                backward=each.place.backward,
                **pick(each, "source", "operation", "calls", "numbers"),
            )
            for each in (*draws.all, *by_line.drawn)
        )
        notes = tuple(recorder.notes)
        self._found.append(Trace(traced=recorder.count, draws=drawn, notes=notes))

    # -- records ------------------------------------------------------------------------------

    def note(self, alerts: list[Alert]) -> None:
        """Store torch's alerts for the record of the current run."""
        import torch

        operations = tuple(
            Operation(
                operation=f"aten::{alert.operation}"
                if hasattr(torch.ops.aten, alert.operation)
                else alert.operation,
                line=alert.line if alert.forward is None else alert.forward,
                code=alert.code,
                backward=alert.forward is not None,
                how="alert",
            )
            for alert in alerts
        )
        self._found.append(Trace(operations=operations))

    def record(self, run: Record | None) -> None:
        """Add what was found to the record of its run."""
        found, self._found = self._found, []
        if run is not None and run.id is not None:
            for trace in found:
                self._tracking.session.ledger.add_trace(run.id, trace)


def _refuse(reason: str) -> NoReturn:
    raise click.UsageError(reason)


def _trace_of(checked: Checked) -> Trace:
    """Return the record of a check."""
    culprit = checked.culprit
    if culprit is None:
        return Trace(checked=checked.runs, traced=checked.operations)
    found = Operation(
        **pick(culprit, "operation", "line", "code", "module", "backward"),
        how="check",
        mends=checked.with_flags == "repeats",
    )
    return Trace(checked=checked.runs, traced=checked.operations, operations=(found,))
