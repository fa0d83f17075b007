"""``%rng``: shows all states, settings and runs."""

from __future__ import annotations

import click
from IPython.display import display

from ipytorchseed.commands import Words, expect, flag, in_json, option
from ipytorchseed.determinism.assessment import assess
from ipytorchseed.errors import LookupFailure
from ipytorchseed.notebook.lookup import TRACKING_OFF, find_run, recent_runs
from ipytorchseed.notebook.state import State
from ipytorchseed.render.report import report
from ipytorchseed.render.rng import CallsView, RngView, StateDifference, WhoView, rng_json
from ipytorchseed.render.seeding import SeedStatus
from ipytorchseed.rng.torch_random import has_torch
from ipytorchseed.session.states import LedgerStates
from ipytorchseed.why.evidence import run_phrase
from ipytorchseed.why.words import sentence

# The maximum number of runs in the timeline.
_SHOWN = 50


@click.group(cls=Words, invoke_without_command=True, subcommand_metavar="[diff A B | who N]")
@flag("--text as_text", "Print it as text.")
@in_json("states and flags")
@flag("--all everything", "List runs that only displayed something, too.")
@option(
    "--ranks",
    "[FOLDER]",
    "Show ranks side by side: engines of ipyparallel, or what its.ranks.watch wrote.",
    alone="",
)
@expect
@click.pass_context
def line(  # noqa: PLR0913 -- click passes each option by itself
    ctx: click.Context,
    *,
    as_text: bool,
    as_json: bool,
    everything: bool,
    ranks: str | None,
    expect: dict[str, str],
) -> object:
    """Show the state of every source, the settings, and the timeline of runs.

    \b
    Examples:
      %rng               states, settings and the timeline of runs
      %rng --text --all  as text, with runs that only displayed something
      %rng diff 5 9      where sources stood when In[5] and In[9] began
      %rng who 9         which calls drew in In[9]; more after --trace
    """  # noqa: D301 -- click's mark for text that keeps its lines
    state: State = ctx.obj
    if ctx.invoked_subcommand is not None:
        return None
    if ranks is not None:
        from ipytorchseed.notebook.ranks import look_at_ranks

        table = look_at_ranks(ranks, expect, state.shell.user_ns)
        return table.to_json() if as_json else table.text() if as_text else table
    if expect:
        raise click.UsageError("--expect needs --ranks")
    if as_json:
        return rng_json(state.generators(), assess().flags if has_torch() else None)
    if as_text:
        return _look(state, everything=everything).text()
    return Inspection(state, everything=everything)


class Inspection:
    """What ``%rng`` shows: a static copy, then the live widget.

    These are two displays. From one display with both forms, a front end would choose the widget
    and have no fallback.

    Args:
        state: The state of the extension in the shell.
        everything: Whether the static copy lists runs that only looked at something.
    """

    def __init__(self, state: State, *, everything: bool = False) -> None:
        viewer = state.open_viewer()  # first, so that the front end loads it meanwhile
        self._static = _look(state, everything=everything)
        self._live = None if viewer is None else viewer.shown()

    def _ipython_display_(self) -> None:
        display(self._static)
        if self._live is not None:
            display(self._live)

    def __repr__(self) -> str:
        return self._static.text()


def _look(state: State, *, everything: bool) -> RngView:
    session = state.tracking.session
    status = SeedStatus.read(state.seeding.rule, state.generators())
    runs = [*session.ledger.runs(session.history_key, limit=_SHOWN)][::-1]
    judged = report() if has_torch() else None
    note = "" if state.options.tracking else sentence(TRACKING_OFF)
    return RngView(status, judged, runs, session.kernel, note, everything=everything)


@line.command("diff")
@click.argument("first", metavar="A", shell_complete=recent_runs)
@click.argument("second", metavar="B", shell_complete=recent_runs)
@click.pass_obj
def _diff(state: State, first: str, second: str) -> StateDifference:
    """Compare the states in which In[A] and In[B] began."""
    session = state.tracking.session
    runs = find_run(session, first), find_run(session, second)
    return StateDifference(*runs, LedgerStates(session.ledger).position, session.kernel)


@line.command("who")
@click.argument("number", metavar="N", shell_complete=recent_runs)
@click.pass_obj
def _who(state: State, number: str) -> WhoView | CallsView:
    """List which calls of In[N] drew from which source; after --trace, also how much."""
    session = state.tracking.session
    run = find_run(session, number)
    traces = session.ledger.traces([run.id or 0]).get(run.id or 0, [])
    if any(trace.traced and not trace.checked for trace in traces):
        return WhoView(run, traces, session.kernel)
    if run.observed is None:
        name = run_phrase(run, session.kernel)
        message = f"{name} was not traced; put %%deterministic --trace at the top of it and run it"
        raise LookupFailure(message)
    return CallsView(run, session.kernel)
