"""``%%deterministic --check``: runs a cell again when its own run has ended."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import click
from IPython.core.interactiveshell import ExecutionResult

from ipytorchseed.experiment.check import Check
from ipytorchseed.experiment.imports import find_reached
from ipytorchseed.experiment.process import say_restored
from ipytorchseed.experiment.repeating import RepeatedCell, Shown
from ipytorchseed.ledger.records import Operation, Trace
from ipytorchseed.ledger.records import Run as Record
from ipytorchseed.notebook.errors import raised
from ipytorchseed.notebook.rerun import Progress, left_as_before, run_unseen
from ipytorchseed.notebook.scopes import cell_of
from ipytorchseed.notebook.state import State
from ipytorchseed.notebook.streams import OutputCapture
from ipytorchseed.reads.cell import effects_of_cell
from ipytorchseed.render.check import CheckView
from ipytorchseed.render.values import pick
from ipytorchseed.rng.snapshot import Snapshot, restore, snapshot
from ipytorchseed.rng.table import seed_all
from ipytorchseed.session.outputs import OutputWatch, outputs_of
from ipytorchseed.why.words import say_effects

_AS_AFTER = "as after one run of the cell"

_INPUT = ("input", "getpass.getpass")
_ASKS = (
    "the cell asks for input, which cannot be given again when the cell is repeated."
    " Ask for it in a cell above"
)


class Checks:
    """The checks that run in a shell.

    Args:
        state: The state of the extension in the shell.

    Attributes:
        under_way: Whether a running cell is being checked.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self.under_way = False
        self._ended: list[tuple[Callable[..., None], Snapshot | None]] = []
        state.after_record.append(self.finish)

    def begin(self, seed: int | None, runs: int, *, isolate: bool, as_json: bool) -> None:
        """Begin to check the running cell.

        Args:
            seed: The seed to apply first, or None.
            runs: How many runs to compare, including the cell's own.
            isolate: Whether to restore every source afterwards.
            as_json: Whether to print the result as JSON.

        Raises:
            UsageError: The cell cannot be checked; none of its code has run yet.
        """
        state, shell, run = self._state, self._state.shell, self._state.runs.current
        if run is None or run.info is None:
            raise click.UsageError("--check needs a separate cell; this code runs without one")
        if self.under_way:
            raise click.UsageError("this cell is checked already: remove one --check")
        cell, names, hidden = cell_of(state, run), shell.user_ns, frozenset(shell.user_ns_hidden)
        source, text = cell.source, lambda _: cell.text
        effects = effects_of_cell(source, text)
        if not effects.calls.keys().isdisjoint(_INPUT):
            raise click.UsageError(_ASKS)
        dependencies = find_reached(source, text, names, hidden)
        before = snapshot() if isolate else None
        if seed is not None:
            seed_all(seed)
            state.tracking.note_seed(seed, "scope")
        progress = Progress(shell, silent=as_json)
        outputs = outputs_of(effects, dependencies.nondeterministic_calls)
        repeated = RepeatedCell(
            names,
            dependencies,
            partial(run_unseen, shell, source, cell.file, outputs),
            lines=cell.lines,
            source=source,
            hidden=hidden,
            progress=progress.tell,
        )
        pending = state.tracking.session.pending
        recorded = None if pending is None else pending.outputs
        told = Check(repeated, runs), outputs, recorded, progress, as_json
        capture = OutputCapture(shell, lambda: outputs)

        def end() -> None:
            capture.stop()
            self.under_way = False
            self._ended.append((partial(self._finish, *told), before))

        self.under_way = True
        run.callback(end)
        capture.start()

    def finish(self, result: ExecutionResult | None, record: Record | None) -> None:
        """Check the cells whose own runs have ended, and show the results.

        Args:
            result: The result of the run that ended.
            record: The record of that run; None if it was not recorded.
        """
        while self._ended:
            finish, before = self._ended.pop(0)
            try:
                finish(result, record)
            finally:
                if before is not None:
                    restore(before)

    def _finish(  # noqa: PLR0913, PLR0917 -- about a check, then about its cell's run
        self,
        check: Check,
        outputs: OutputWatch,
        recorded: OutputWatch | None,
        progress: Progress,
        as_json: bool,  # noqa: FBT001 -- as above
        result: ExecutionResult | None,
        record: Record | None,
    ) -> None:
        error = raised(result)
        if result is None or error is not None:
            if not as_json:
                name = "KeyboardInterrupt" if error is None else type(error).__name__
                click.echo(f"Not checked: the cell ended with {name}. It ran once.")
            return
        if recorded is not None and recorded.in_part:  # some output may be missing
            outputs.passed_by()
        shown = Shown(outputs.record(), outputs.content(result.result))
        stays = list[str]()
        try:
            with left_as_before(self._state, lambda: check.stays, stays), progress:
                check.first(shown, [] if record is None else say_effects(record.outside))
                checked = check.finish()
        except KeyboardInterrupt:
            self._state.interrupts.note()
            said = say_restored("Everything is", stays).replace("as before", _AS_AFTER)
            click.echo(f"The check was interrupted. {said}.")
            return
        view, culprit = CheckView(checked), checked.culprit
        if as_json:
            click.echo(view.to_json())
        else:
            progress.conclude(view)
        found: tuple[Operation, ...] = ()
        if culprit is not None:
            told = pick(culprit, "operation", "line", "code", "module", "backward")
            found = (Operation(**told, how="check", mends=checked.with_flags == "repeats"),)
        self._state.note(Trace(checked=checked.runs, traced=checked.operations, operations=found))
