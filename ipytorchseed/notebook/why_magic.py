"""``%why``: why did this cell give another result?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click
from IPython.display import display

from ipytorchseed.errors import LookupFailure
from ipytorchseed.notebook.hints import examples
from ipytorchseed.notebook.lookup import find_run, recent_runs
from ipytorchseed.render.why import WhyView
from ipytorchseed.session.asking import last_repeated, why

if TYPE_CHECKING:
    from ipytorchseed.ledger.records import Run
    from ipytorchseed.notebook.state import State
    from ipytorchseed.session.session import Session

    Target = tuple[State, str | None]


def command(kind: str) -> click.Command:  # noqa: ARG001 -- there is no %%why
    """Return the declaration of ``%why``."""
    return _why


@click.command(
    epilog=examples(
        {
            "%why": "why the last cell that ran again gave another result",
            "%why 9": "why In[9] did",
            "%why 9 --against 5": "what In[9] and In[5] began with, also of two cells",
        }
    )
)
@click.argument("cell", required=False, metavar="[N | CELL-ID]", shell_complete=recent_runs)
@click.option(
    "--against",
    metavar="N",
    help="Compare with In[N] instead of the run before.",
    shell_complete=recent_runs,
)
@click.option("--json", "as_json", is_flag=True, help="Print it as one line of JSON.")
@click.pass_obj
def _why(target: Target, cell: str | None, *, against: str | None, as_json: bool) -> None:
    """Say why a cell gave another result than the time before.

    Without N, the last cell that ran more than once.
    """
    extension = target[0]
    if not extension.choices.tracking:
        message = "tracking is off; %config IPyTorchSeed.tracking = True records runs from now on"
        raise LookupFailure(message)
    session = extension.tracking.session
    run = last_repeated(session) if cell is None else _run_of(session, cell)
    other = None if against is None else find_run(session, against)
    view = WhyView(why(session, run, other), session.kernel)
    extension.replays.asked = view.explanation.against
    if as_json:
        click.echo(view.to_json())
    else:
        display(view)


def explain_change(session: Session, run: Run) -> None:
    """Print one line if a run gave another result than the cell's run before it."""
    line = WhyView(why(session, run), session.kernel).one_line
    if line:
        click.echo(line)


def _run_of(session: Session, word: str) -> Run:
    """Return the run that a number names, or the last run of the cell that an id names."""
    if re.fullmatch(r"#?\d+|In\[\d+\]", word):
        return find_run(session, word)
    runs = session.ledger.last_runs_of_cell(
        session.notebook, session.identity.key_of(word), 1, rank=session.rank
    )
    return runs[0] if runs else find_run(session, word)
