"""``%replay``: brings an earlier result back."""

from __future__ import annotations

import click
from IPython.display import display

from ipytorchseed.commands import flag
from ipytorchseed.errors import LookupFailure, ReplayError
from ipytorchseed.experiment.process import say_restored
from ipytorchseed.ledger.records import Run
from ipytorchseed.notebook.lookup import find_run, recent_runs
from ipytorchseed.notebook.state import State, Target
from ipytorchseed.reads.own_lines import only_asks
from ipytorchseed.render.replay import PlanView, ReplayView, say_outside
from ipytorchseed.render.text import visible, wrap
from ipytorchseed.session.asking import why
from ipytorchseed.session.session import Session
from ipytorchseed.why.evidence import run_phrase
from ipytorchseed.why.explanation import Cause
from ipytorchseed.why.plan import Plan


@click.command()
@click.argument("run", required=False, metavar="[N]", shell_complete=recent_runs)
@flag("--dry", "Only show which cells would run again.")
@flag("--undo", "Put back what was there before the last replay.")
@flag("--yes", "Also run cells that write files, start programs or open connections.")
@click.pass_obj
def line(target: Target, run: str | None, *, dry: bool, undo: bool, yes: bool) -> None:
    """Bring the result of In[N] back, and check it bit for bit.

    Runs again the cells that made what In[N] read, if it has changed since, then its own cell: each
    with its earlier text, sources, generators and flags. Says whether the result is In[N]'s again,
    or what still differs and why. Values are changed in copies: --undo brings names, sources and
    settings back. Without N, the earlier run of the last %why; #17 is
    the ledger's number 17, as %rng lists runs of earlier kernels.

    \b
    Examples:
      %replay 5 --dry  show which cells would run again, and run nothing
      %replay 5        bring the result of In[5] back
      %replay --undo   put back what was there before
    """  # noqa: D301 -- click's mark for text that keeps its lines
    state = target[0]
    if undo:
        if run is not None or dry or yes:
            raise click.UsageError("--undo takes no other argument: it undoes the last replay")
        name, names, moved, stays = state.replays.undo()
        which = f", and names: {', '.join(names)}" if names and not moved else ""
        settings = say_restored("Sources and settings are", moved)
        said = f"The replay of {name} is undone. {settings}{which}."
        kept = f" Not undone: {', '.join(stays)}." if stays else ""
        click.echo(wrap(visible(f"{said}{kept}"), first=""))
        return
    session = state.session
    wanted = state.replays.asked if run is None else find_run(session, run)
    if wanted is None:  # no error, so that Run All continues
        click.echo("Nothing to bring back: no %why named an earlier run yet. Name one: %replay 5")
        return
    plan = find_plan(state, wanted)
    outside = say_outside(plan, session.kernel)
    if dry:
        display(PlanView(plan, session.kernel))
    elif outside and not yes:
        raise ReplayError(f"{outside}. Nothing was run; to run that again, add --yes")
    else:
        causes = _causes(session, wanted)
        new, stays = state.replays.play(plan)
        explanation = why(session, new, wanted)
        display(ReplayView(explanation, plan, session.kernel, stays, causes))


def find_plan(state: State, wanted: Run) -> Plan:
    """Return the cells to run again for a run's result, without running them.

    Raises:
        LookupFailure: The run has no result.
        ReplayError: The result cannot be replayed.
    """
    if only_asks(wanted.source):
        name = run_phrase(wanted, state.tracking.session.kernel)
        raise LookupFailure(f"{name} only asks or commands ipytorchseed: it made no result")
    plan = state.replays.plan(wanted)
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
