"""Reruns recorded cells in the shell; undoes a replay if one of its cells fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import PurePath
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.determinism.interrupts import held_interrupts, let_through
from ipytorchseed.errors import LedgerError, LookupFailure, ReplayError
from ipytorchseed.experiment.engine import Engine
from ipytorchseed.experiment.process import say_restored
from ipytorchseed.experiment.rewind import begin_as
from ipytorchseed.ledger.records import UNDONE, Run
from ipytorchseed.notebook.progress import Progress
from ipytorchseed.notebook.rerun import (
    left_as_before,
    restored_shell,
    run_coroutine,
    without_tracebacks,
)
from ipytorchseed.notebook.seeding import Seeding
from ipytorchseed.notebook.tracking import Tracking
from ipytorchseed.reads.own_lines import only_asks
from ipytorchseed.render.labels import label_of
from ipytorchseed.session.present import LiveKernel
from ipytorchseed.why.evidence import run_phrase
from ipytorchseed.why.plan import Plan, Step, make_plan

# The values of last results by name, in each of IPython's places.
_Results = list[dict[str, object]]

_RESTORED = "names, sources and settings are"

# Seconds that the cells took together, from which on each is announced.
_LONG = 1.5

# Names of the last results. IPython rebinds them unless the user has.
_RESULTS = ("_", "__", "___")

# Characters of a cell's label in the progress line.
_LABEL = 36


class Player(Struct, eq=False):
    """Reruns the cells of recorded runs.

    Args:
        shell: The running shell.
        tracking: The recording of its runs.
        seeding: The seeding rule, which cells may change.

    Attributes:
        busy: Whether it is rerunning cells.
    """

    shell: InteractiveShell
    tracking: Tracking
    seeding: Seeding
    busy: bool = False

    @contextmanager
    def at_work(self, command: str) -> Iterator[None]:
        """Prevent nested reruns in the block.

        Args:
            command: What the user typed, for the error.

        Raises:
            ReplayError: Cells are being rerun already.
        """
        if self.busy:
            raise ReplayError(f"this cell is being run again: remove {command} from the cell")
        self.busy = True
        try:
            yield
        finally:
            self.busy = False

    def run(
        self, again: Run, number: int | None, begin: Callable[[], None], *, quiet: bool
    ) -> Run | None:
        """Run a cell again; it may fail.

        Args:
            again: The run whose cell it is.
            number: The number in ``In[...]`` of the new run, or None.
            begin: Called before the cell.
            quiet: Whether to hide what it shows.

        Returns:
            The new run; None if it was not recorded.

        Raises:
            KeyboardInterrupt: The user interrupts it.
        """
        run_cell = partial(self.shell.run_cell, again.source, store_history=False)
        names = self.shell.user_global_ns
        execute = partial(let_through, run_cell, names)
        with restored_shell(self.shell), without_tracebacks(self.shell):
            self.shell.loop_runner = partial(run_coroutine, names=names)  # not the running loop
            with self._quiet_as(again.source):
                run = self.tracking.record(again, number, begin, execute, quiet=quiet)
        if run is not None and run.status == "interrupted":
            raise KeyboardInterrupt
        return run

    def run_whole(
        self, again: Run, number: int | None, begin: Callable[[], None], *, quiet: bool
    ) -> Run:
        """Run a cell again as ``run`` does.

        Raises:
            RerunError: It failed, or was not recorded.
            KeyboardInterrupt: The user interrupts it.
        """
        run = self.run(again, number, begin, quiet=quiet)
        if run is None or run.status != "ok":
            name = run_phrase(again, self.tracking.session.kernel)
            said = "it was not recorded" if run is None else run.outputs.error
            raise RerunError(f"{name} failed when it ran again ({said})")
        return run

    @contextmanager
    def _quiet_as(self, source: str) -> Iterator[None]:
        """Let the cell's own semicolon decide whether its value is shown.

        IPython looks at the last typed cell, which is the one that asks for this run.
        """
        typed: list[str] = getattr(self.shell.history_manager, "input_hist_parsed", [])
        own, typed[-1:] = typed[-1:], [source]
        try:
            yield
        finally:
            typed[-1:] = own


class RerunError(ReplayError):
    """A cell failed when it ran again."""


class Replays(Struct, eq=False):
    """The replays of a shell.

    Args:
        player: Runs cells again in it.
        ran: Called with each new run, and with each run that was undone.

    Attributes:
        asked: The earlier run of the last ``%why``, which ``%replay`` without a number uses.
    """

    _player: Player
    _ran: Callable[[Run], object]
    asked: Run | None = None
    _before: Engine | None = None
    _runs: tuple[Run, ...] = ()
    _results: tuple[_Results, _Results] = ([], [])
    _what: str = ""
    _stays: tuple[str, ...] = ()

    def plan(self, target: Run) -> Plan:
        """Plan which cells to run in this kernel to get a run's result again."""
        return make_plan(
            target, LiveKernel(self._player.tracking.session, target, self._player.shell.user_ns)
        )

    def play(self, plan: Plan) -> tuple[Run, tuple[str, ...]]:
        """Run the cells of a plan, each from the states in which its run began.

        Args:
            plan: A plan with at least one step.

        Returns:
            The new run of the target's cell, and what an undo does not restore: objects that could
            not be copied, and written files.

        Raises:
            ReplayError: A cell failed or was interrupted. The message names what could not be
                restored.
        """
        failed, moved = "", list[str]()
        names, hidden = self._player.shell.user_ns, frozenset(self._player.shell.user_ns_hidden)
        try:
            with held_interrupts(), self._player.at_work("%replay"):
                engine = Engine.of_runs(names, [step.run for step in plan.steps], hidden)
                try:
                    with left_as_before(
                        self._player.shell, self._player.seeding, engine.leave, moved
                    ) as undo:
                        return self._replay(plan, engine, undo)
                except (KeyboardInterrupt, RerunError) as error:
                    failed = "interrupted" if isinstance(error, KeyboardInterrupt) else str(error)
                    raise
        except (KeyboardInterrupt, RerunError):
            if not failed:  # an interrupt that arrived at the very end
                raise
            raise ReplayError(f"{failed}; {say_restored(_RESTORED, moved)}") from None

    def _replay(self, plan: Plan, engine: Engine, undo: ExitStack) -> tuple[Run, tuple[str, ...]]:
        tracking, results = self._player.tracking, self._last_results()
        outer = tracking.suspend()
        alone = outer is not None and only_asks(outer.source)
        undo.callback(tracking.resume, outer)
        undo.callback(self._put_results_back, results)
        engine.begin()
        runs = self._play(plan, engine, outer.execution_count if outer and alone else None)
        undo.pop_all()
        engine.settle()
        if not alone:  # the cell also has other code
            tracking.resume(outer)
        self._what = run_phrase(plan.target, tracking.session.kernel)
        self._before, self._results = engine, (results, self._last_results())
        self._runs = (*runs,)
        files = sorted({PurePath(path).name for run in runs for path in run.outside.wrote})
        self._stays = (*engine.shared, *files)
        return runs[-1], self._stays

    def undo(self) -> tuple[str, list[str], list[str], tuple[str, ...]]:
        """Restore names, sources, generators and settings from before the replay.

        Returns:
            The replayed run, the restored names, what could not be restored, and what an undo never
            restores, as in ``play``.

        Raises:
            LookupFailure: There is no replay to undo.
        """
        if self._before is None:
            msg = "no replay to undo: none was played in this kernel since the last undo"
            raise LookupFailure(msg)
        before, self._before = self._before, None
        results, left = self._results
        since = self._last_results()
        with held_interrupts():
            moved = before.leave()
            shown = [*map(_identities, since)] != [*map(_identities, left)]
            self._put_results_back(since if shown else results)  # results of later cells stay
        with suppress(LedgerError):
            self._player.tracking.session.ledger.mark_undone(self._runs)
        for run in self._runs:
            self._ran(replace(run, status=UNDONE))
        names = sorted(name for name in before.moved or () if not name.startswith("_"))
        return self._what, names, moved, self._stays

    def _last_results(self) -> _Results:
        """Return the last results; IPython keeps each in three places."""
        return [
            {name: names[name] for name in _RESULTS if name in names}
            for names in self._result_places()
        ]

    def _put_results_back(self, results: _Results) -> None:
        for names, kept in zip(self._result_places(), results, strict=True):
            for name in _RESULTS:
                names.pop(name, None)
            names.update(kept)

    def _result_places(self) -> tuple[dict[str, Any], ...]:
        shell = self._player.shell
        return vars(shell.displayhook), shell.user_ns_hidden, shell.user_ns

    def _play(self, plan: Plan, engine: Engine, number: int | None) -> list[Run]:
        kernel, ledger = self._player.tracking.session.kernel, self._player.tracking.session.ledger
        long = sum(step.run.seconds for step in plan.steps) >= _LONG
        progress = Progress(self._player.shell, silent=not long, what="Replaying")
        runs = []
        with progress:
            for index, step in enumerate(plan.steps, 1):
                name, last = run_phrase(step.run, kernel), index == len(plan.steps)
                took = f", which took {step.run.seconds:,.1f} s" if step.run.seconds >= 1 else ""
                label = label_of(step.run.source)[:_LABEL]
                progress.step(f"{index} of {len(plan.steps)} · {name} {label}{took} …", shows=last)

                def begin(step: Step = step, name: str = name) -> None:
                    begin_as(step, name, ledger, engine.generators())

                with engine.without(step.run.missing):
                    count = number if last else None
                    again = self._player.run_whole(step.run, count, begin, quiet=not last)
                runs.append(again)
                self._ran(again)
            progress.clear()
        return runs


def _identities(names: dict[str, object]) -> dict[str, int]:
    return {name: id(value) for name, value in names.items()}
