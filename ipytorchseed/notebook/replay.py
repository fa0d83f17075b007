"""``%replay``: brings an earlier result back, and undoes that."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import PurePath
from typing import Any

import click
from msgspec.structs import replace

from ipytorchseed.commands import flag
from ipytorchseed.determinism.interrupts import held_interrupts
from ipytorchseed.errors import LedgerError, LookupFailure, ReplayError
from ipytorchseed.experiment.engine import Engine
from ipytorchseed.experiment.process import say_restored
from ipytorchseed.experiment.rewind import begin_as
from ipytorchseed.ledger.records import UNDONE, Run
from ipytorchseed.notebook.lookup import find_run, recent_runs
from ipytorchseed.notebook.rerun import Progress, RerunError, left_as_before, rerun_successfully
from ipytorchseed.notebook.state import State
from ipytorchseed.reads.own_lines import is_inspection
from ipytorchseed.render.labels import label_of
from ipytorchseed.render.replay import PlanView, ReplayView, say_outside
from ipytorchseed.render.text import wrap
from ipytorchseed.render.view import View
from ipytorchseed.session.asking import why
from ipytorchseed.session.present import LiveKernel
from ipytorchseed.session.session import Session
from ipytorchseed.why.evidence import run_phrase
from ipytorchseed.why.explanation import Cause
from ipytorchseed.why.plan import Plan, Step
from ipytorchseed.why.planner import make_plan

_RESTORED = "names, sources and settings are"

# Each cell is announced if all cells together take longer than this, in seconds.
_LONG = 1.5

# Names of the last results. IPython rebinds them unless the user has bound them.
_RESULTS = ("_", "__", "___")

# The maximum length of a cell's label in the progress line.
_LABEL = 36


class Replays:
    """Plans, plays and undoes replays in a shell.

    Args:
        state: The state of the extension in the shell.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._undo: Callable[[], str] | None = None

    def plan(self, target: Run) -> Plan:
        """Plan which cells to run in this kernel to get a run's result again."""
        state = self._state
        return make_plan(target, LiveKernel(state.tracking.session, target, state.shell.user_ns))

    def play(self, plan: Plan) -> tuple[Run, tuple[str, ...]]:
        """Run the cells of a plan, each from the random states of its recorded run.

        Args:
            plan: A plan with at least one step.

        Returns:
            The new run of the target's cell, and what an undo will not restore: objects that could
            not be copied, and files that cells wrote.

        Raises:
            ReplayError: A cell failed or was interrupted. The message names what could not be
                restored.
        """
        moved, earlier = list[str](), self._undo
        names, hidden = self._state.shell.user_ns, frozenset(self._state.shell.user_ns_hidden)
        engine = Engine.of_runs(names, [step.run for step in plan.steps], hidden)
        try:
            with left_as_before(self._state, engine.leave, moved, "%replay") as undo:
                return self._replay(plan, engine, undo)
        except (KeyboardInterrupt, RerunError) as error:
            if self._undo is not earlier:  # an interrupt that arrived at the very end
                raise
            failed = "interrupted" if isinstance(error, KeyboardInterrupt) else str(error)
            raise ReplayError(f"{failed}; {say_restored(_RESTORED, moved)}") from None

    def _replay(self, plan: Plan, engine: Engine, undo: ExitStack) -> tuple[Run, tuple[str, ...]]:
        tracking, put_results_back = self._state.tracking, _keep_results(self._state.shell)
        outer = tracking.suspend()
        alone = outer is not None and is_inspection(outer.source)
        undo.callback(tracking.resume, outer)
        undo.callback(put_results_back)
        engine.begin()
        runs = self._play(plan, engine, outer.execution_count if outer and alone else None)
        undo.pop_all()
        engine.settle()
        if not alone:  # the cell also has other code
            tracking.resume(outer)
        what = run_phrase(plan.target, tracking.session.kernel)
        files = sorted({PurePath(path).name for run in runs for path in run.outside.wrote})
        stays = (*engine.shared, *files)

        def put_back() -> str:
            with held_interrupts():
                moved = engine.leave()
                put_results_back()
            with suppress(LedgerError):
                tracking.session.ledger.mark_undone(runs)
            for run in runs:
                self._show(replace(run, status=UNDONE))
            names = sorted(name for name in engine.moved or () if not name.startswith("_"))
            which = f", and names: {', '.join(names)}" if names and not moved else ""
            settings = say_restored("Sources and settings are", moved)
            kept = f" Not undone: {', '.join(stays)}." if stays else ""
            return f"The replay of {what} is undone. {settings}{which}.{kept}"

        self._undo = put_back
        return runs[-1], stays

    def undo(self) -> str:
        """Restore names, sources, generators and settings from before the replay.

        Returns:
            What was restored, and what an undo never restores (see ``play``).

        Raises:
            LookupFailure: There is no replay to undo.
        """
        put_back, self._undo = self._undo, None
        if put_back is None:
            msg = "no replay to undo: none was played in this kernel since the last undo"
            raise LookupFailure(msg)
        return put_back()

    def _show(self, run: Run) -> None:
        """Show a run that has ended inside another one, or was undone."""
        if self._state.viewer is not None:
            self._state.guard.call(self._state.viewer.ran, run)

    def _play(self, plan: Plan, engine: Engine, number: int | None) -> list[Run]:
        session, runs = self._state.tracking.session, list[Run]()
        long = sum(step.run.seconds for step in plan.steps) >= _LONG
        with Progress(self._state.shell, silent=not long, what="Replaying") as progress:
            for index, step in enumerate(plan.steps, 1):
                name, last = run_phrase(step.run, session.kernel), index == len(plan.steps)
                took = f", which took {step.run.seconds:,.1f} s" if step.run.seconds >= 1 else ""
                label = label_of(step.run.source)[:_LABEL]
                progress.step(f"{index} of {len(plan.steps)} · {name} {label}{took} …", shows=last)

                def begin(step: Step = step, name: str = name) -> None:
                    begin_as(step, name, session.ledger, engine.generators())

                with engine.without(step.run.missing):
                    count = number if last else None
                    again = rerun_successfully(self._state, step.run, count, begin, quiet=not last)
                runs.append(again)
                self._show(again)
        return runs


def _keep_results(shell: Any) -> Callable[[], None]:  # noqa: ANN401 -- an InteractiveShell
    """Return a function that restores the last results, in IPython's three places."""
    places = vars(shell.displayhook), shell.user_ns_hidden, shell.user_ns
    kept = [{name: names[name] for name in _RESULTS if name in names} for names in places]

    def put_back() -> None:
        for names, before in zip(places, kept, strict=True):
            for name in _RESULTS:
                names.pop(name, None)
            names.update(before)

    return put_back


@click.command()
@click.argument("run", required=False, metavar="[N]", shell_complete=recent_runs)
@flag("--dry", "Only show which cells would run again.")
@flag("--undo", "Put back what was there before the last replay.")
@flag("--yes", "Also run cells that write files, start programs or open connections.")
@click.pass_obj
def line(state: State, run: str | None, *, dry: bool, undo: bool, yes: bool) -> View | str:
    """Bring the result of In[N] back, and check it bit for bit.

    If an input of In[N] has changed, the cells that created it run again first. Then the cell of
    In[N] runs. Each cell runs with its earlier text, random states and settings. The answer says
    whether the result is In[N]'s again, or what still differs and why. Cells change copies of your
    variables, so --undo brings names, random states and settings back. Without N, the earlier run
    that the last %why named is replayed. #17 is run 17 of the ledger: %rng shows these numbers for
    runs of earlier kernels.

    \b
    Examples:
      %replay 5 --dry  show which cells would run again, and run nothing
      %replay 5        bring the result of In[5] back
      %replay --undo   restore what was there before
    """  # noqa: D301 -- click's mark for text that keeps its lines
    if undo:
        if run is not None or dry or yes:
            raise click.UsageError("--undo takes no other argument: it undoes the last replay")
        return wrap(state.part(Replays).undo(), first="")
    session = state.session
    wanted = state.asked if run is None else find_run(session, run)
    if wanted is None:  # no error, so that Run All continues
        return "Nothing to bring back: no %why named an earlier run yet. Name one: %replay 5"
    plan = find_plan(state, wanted)
    outside = say_outside(plan, session.kernel)
    if dry:
        return PlanView(plan, session.kernel)
    if outside and not yes:
        raise ReplayError(f"{outside}. Nothing was run; to run that again, add --yes")
    causes = _causes(session, wanted)
    new, stays = state.part(Replays).play(plan)
    return ReplayView(why(session, new, wanted), plan, session.kernel, stays, *causes)


def find_plan(state: State, wanted: Run) -> Plan:
    """Return the cells to run again for a run's result, without running them.

    Raises:
        LookupFailure: The run has no result.
        ReplayError: The result cannot be replayed.
    """
    if is_inspection(wanted.source):
        name = run_phrase(wanted, state.tracking.session.kernel)
        why_not = "contains only commands of ipytorchseed, so it has no result to bring back"
        raise LookupFailure(f"{name} {why_not}")
    plan = state.part(Replays).plan(wanted)
    if plan.blocked:
        raise ReplayError(plan.blocked)
    return plan


def _causes(session: Session, wanted: Run) -> tuple[Cause, ...]:
    """Return the causes for a cell's latest result, if a replay restores all of them."""
    latest = session.ledger.last_run(wanted.notebook, wanted.cell)
    if latest is None or latest.id == wanted.id:
        return ()
    said = why(session, latest, wanted)
    whole = not said.unknown and all(cause.goes_back for cause in said.causes)
    return said.causes if whole else ()
