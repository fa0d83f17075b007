"""Runs cells again in the shell, recorded; those of a plan together, undone where one fails."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import chain
from pathlib import PurePath

from IPython.core.interactiveshell import InteractiveShell

from ipytorchseed.determinism.interrupts import held_interrupts, let_through
from ipytorchseed.errors import LookupFailure, ReplayError
from ipytorchseed.experiment.process import say_restored
from ipytorchseed.experiment.replay import Before, Scene
from ipytorchseed.ledger.records import Run
from ipytorchseed.notebook.progress import Progress
from ipytorchseed.notebook.rerun import (
    moved_parts,
    restored_shell,
    run_coroutine,
    shell_parts,
    without_tracebacks,
)
from ipytorchseed.notebook.tracking import Tracking
from ipytorchseed.reads.magics import only_asks
from ipytorchseed.render.timeline import label_of
from ipytorchseed.rng.generators import Found
from ipytorchseed.session.present import LiveKernel
from ipytorchseed.why.evidence import run_name
from ipytorchseed.why.plan import Plan, make_plan

_Result = tuple[object, ...]

_RESTORED = "names, sources and settings are"

_LONG = 1.5
"""Seconds that cells took together, from which on it is told which of them runs."""

_RESULTS = ("_", "__", "___")
"""Names of the last results, which IPython binds while they hold what it bound them to."""

_GONE = object()

_LABEL = 36
"""Letters of a cell, in the line that tells which one runs."""


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
        run_cell = partial(self.shell.run_cell, again.source, store_history=False)
        names = self.shell.user_global_ns
        execute = partial(let_through, run_cell, names)
        with restored_shell(self.shell), without_tracebacks(self.shell):
            self.shell.loop_runner = partial(run_coroutine, names=names)  # the kernel's own runs
            with self._quiet_as(again.source):
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


class _CellFailed(Exception):  # noqa: N818 -- not ours to tell: `play` does
    """A cell of a replay failed."""


class Replays:
    """The replays of a shell.

    Args:
        player: Runs cells again in it.
        ran: Told of each new run.

    Attributes:
        asked: The earlier run of the last ``%why``, which ``%replay`` takes without a number.
    """

    def __init__(self, player: Player, ran: Callable[[Run], object]) -> None:
        self.asked: Run | None = None
        self._player = player
        self._shell = player.shell
        self._tracking = player.tracking
        self._ran = ran
        self._before: Before | None = None
        self._results: tuple[list[_Result], list[_Result]] = ([], [])
        self._what = ""
        self._stays: tuple[str, ...] = ()
        self._moved: list[str] = []

    def plan(self, target: Run) -> Plan:
        """Find the way to a run's result from where the kernel stands.

        Args:
            target: The run.
        """
        return make_plan(target, LiveKernel(self._tracking.session, target, self._shell.user_ns))

    def play(self, plan: Plan) -> tuple[Run, tuple[str, ...]]:
        """Run the cells of a plan, each from where its run began.

        Args:
            plan: With at least one step.

        Returns:
            The new run of the target's cell; and what an undo does not put back: objects that
            could not be copied, and files that were written.

        Raises:
            ReplayError: A cell failed, or it was interrupted: all is as it was before, or what is
                not is named.
        """
        failed, self._moved = "", []
        try:
            with held_interrupts(), self._player.at_work("%replay"):
                try:
                    return self._replay(plan)
                except (KeyboardInterrupt, _CellFailed) as error:
                    failed = "interrupted" if isinstance(error, KeyboardInterrupt) else str(error)
                    raise
        except (KeyboardInterrupt, _CellFailed):
            if not failed:  # an interrupt that arrived when all was done
                raise
            raise ReplayError(f"{failed}; {say_restored(_RESTORED, self._moved)}") from None

    def _replay(self, plan: Plan) -> tuple[Run, tuple[str, ...]]:
        tracking, session = self._tracking, self._tracking.session
        name = run_name(plan.target, session.kernel)
        scene, results = self._player.scene(), self._last_results()
        parts = shell_parts(self._shell)
        before = Before(scene, [step.run for step in plan.steps])
        outer = tracking.set_aside()
        alone = outer is not None and only_asks(outer.source)

        with ExitStack() as failed:
            failed.callback(lambda: self._moved.extend(moved_parts(parts)))
            failed.callback(tracking.take_up, outer)
            failed.callback(self._put_results_back, results)
            failed.callback(lambda: self._moved.extend(before.put_back()[1]))
            runs = self._play(plan, scene, outer.execution_count if outer and alone else None)
            failed.pop_all()
        before.done()
        if not alone:  # the cell does more than to ask for this
            tracking.take_up(outer)
        self._before, self._what, self._results = before, name, (results, self._last_results())
        files = sorted({PurePath(path).name for run in runs for path in run.wrote})
        self._stays = (*before.shared, *files)
        return runs[-1], self._stays

    def undo(self) -> tuple[str, list[str], list[str], tuple[str, ...]]:
        """Put names, sources, generators and settings back to where they were before the replay.

        Returns:
            Which run had been replayed, the names that were put back, what is not as before, and
            what is not put back, as of ``play``.

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
            names, moved = before.put_back()
            if all(map(operator.is_, chain(*left), chain(*since))):
                since = results  # else other cells showed theirs
            self._put_results_back(since)
        return self._what, names, moved, self._stays

    def _last_results(self) -> list[_Result]:
        """Return the last results, each as IPython keeps it twice, and as the name holds it."""
        hook, shell = vars(self._shell.displayhook), self._shell
        places = hook, shell.user_ns_hidden, shell.user_ns
        return [tuple([place.get(name, _GONE) for place in places]) for name in _RESULTS]

    def _put_results_back(self, results: Sequence[_Result]) -> None:
        hook, shell = vars(self._shell.displayhook), self._shell
        for name, held in zip(_RESULTS, results, strict=True):
            for place, value in zip((hook, shell.user_ns_hidden, shell.user_ns), held, strict=True):
                if value is _GONE:
                    place.pop(name, None)
                else:
                    place[name] = value

    def _play(self, plan: Plan, scene: Scene, number: int | None) -> list[Run]:
        kernel = self._tracking.session.kernel
        long = sum(step.run.seconds for step in plan.steps) >= _LONG
        progress = Progress(self._shell, silent=not long, what="Replaying")
        runs = []
        with progress:
            for index, step in enumerate(plan.steps, 1):
                name, last = run_name(step.run, kernel), index == len(plan.steps)
                took = f", which took {step.run.seconds:,.1f} s" if step.run.seconds >= 1 else ""
                label = label_of(step.run.source)[:_LABEL]
                progress.step(f"{index} of {len(plan.steps)} · {name} {label}{took} …", shows=last)
                begin = partial(scene.put_back, step, name)
                with scene.without(step.run.missing):
                    again = self._run(step.run, number if last else None, begin, quiet=not last)
                runs.append(again)
            progress.clear()
        return runs

    def _run(
        self, again: Run, number: int | None, begin: Callable[[], None], *, quiet: bool
    ) -> Run:
        """Run a cell again; return its new run.

        Raises:
            _CellFailed: It failed.
        """
        run = self._player.run(again, number, begin, quiet=quiet)
        if run is not None:
            self._ran(run)
        if run is not None and run.status == "interrupted":
            raise KeyboardInterrupt
        if run is None or run.status != "ok":
            name = run_name(again, self._tracking.session.kernel)
            said = "it was not recorded" if run is None else run.error
            raise _CellFailed(f"{name} failed when it ran again ({said})")
        return run
