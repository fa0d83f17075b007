"""``%seed log``, ``save``, ``restore`` and ``rewind``: states of the past."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from IPython.display import display

from ipytorchseed.errors import LookupFailure, did_you_mean
from ipytorchseed.notebook.lookup import TRACKING_OFF, find_run, recent_runs
from ipytorchseed.notebook.magic import as_word
from ipytorchseed.render.seeding import SeedLog, restored_text
from ipytorchseed.session import rewind as states_of
from ipytorchseed.why.evidence import run_name

if TYPE_CHECKING:
    from ipytorchseed.ledger.records import Run
    from ipytorchseed.notebook.state import State

    Target = tuple[State, str | None]

_SHOWN = 50
"""Seeds in the log, the last ones."""

_quiet = click.option("-q", "--quiet", is_flag=True, help="Print nothing.")


@click.command("log")
@click.pass_obj
def log(target: Target) -> None:
    """Show which seeds were applied when, across kernel restarts."""
    session = target[0].tracking.session
    entries = session.ledger.seeds(session.notebook, limit=_SHOWN + 1)
    runs: dict[tuple[str, int | None], Run] = {}
    for entry in entries[-_SHOWN:]:
        where = entry.kernel, entry.execution_count
        if where not in runs and entry.execution_count is not None:
            run = session.ledger.find(session.notebook, entry.execution_count, entry.kernel)
            if run is not None and run.kernel == entry.kernel:
                runs[where] = run
    note = "" if session.config.tracking else f"Seeds are not logged now: {TRACKING_OFF}"
    more = len(entries) > _SHOWN
    display(SeedLog(entries[-_SHOWN:], runs, session.kernel, more=more, note=note))


def saved_names(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Return the names under which states are saved, as one types them."""
    session = ctx.obj[0].tracking.session
    names, begun = session.ledger.saves(session.notebook), incomplete.lstrip("\"'")
    return [as_word(name) for name in names if name.startswith(begun)]


_name = click.argument("words", metavar="NAME", nargs=-1, required=True, shell_complete=saved_names)


@click.command("save")
@_name
@_quiet
@click.pass_obj
def save(target: Target, words: tuple[str, ...], *, quiet: bool) -> None:
    """Keep the full state of every source under NAME, across kernel restarts."""
    state = target[0]
    session = state.tracking.session
    name = " ".join(words)
    word, states = as_word(name), state.states()
    session.ledger.save(session.notebook, name, states)
    if not quiet:
        click.echo(f"Saved {', '.join(states)} as {name!r}. Back with: %seed restore {word}")


@click.command("restore")
@_name
@_quiet
@click.pass_obj
def restore(target: Target, words: tuple[str, ...], *, quiet: bool) -> None:
    """Put every source back to the state saved as NAME."""
    state = target[0]
    session, name = state.tracking.session, " ".join(words)
    states = session.ledger.saved(session.notebook, name)
    if states is None:
        saves = [*session.ledger.saves(session.notebook)]
        known = ", ".join(saves) or "nothing"
        message = f"nothing is saved as {name!r}; saved: {known}{did_you_mean(name, saves)}"
        raise LookupFailure(message)
    done = states_of.put_back(states, state.generators())
    if not quiet:
        click.echo(restored_text(done, f"as saved under {name!r}"))


@click.command("rewind")
@click.argument("run", metavar="N", shell_complete=recent_runs)
@click.option("--after", is_flag=True, help="To where they stood when In[N] ended.")
@_quiet
@click.pass_obj
def rewind(target: Target, run: str, *, after: bool, quiet: bool) -> None:
    """Put every source back where it stood when In[N] began.

    N is the number in In[N], of this kernel or else of the last one that had it; #17 is the
    ledger's number 17, as %rng and %seed log list runs of earlier kernels.
    """
    state = target[0]
    session = state.tracking.session
    found = find_run(session, run)
    name = run_name(found, session.kernel)
    done = states_of.rewind(session.ledger, found, state.generators(), name, after=after)
    if not quiet:
        when = "ended" if after else "began"
        click.echo(restored_text(done, f"as when {name} {when}"))


HISTORY = (log, save, restore, rewind)
