"""Finds the run that a user names.

``5`` means ``In[5]``, and ``#17`` means the ledger's number 17.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from ipytorchseed.errors import LookupFailure, quoted
from ipytorchseed.why.evidence import run_name, run_word

if TYPE_CHECKING:
    from collections.abc import Iterator

    import click

    from ipytorchseed.ledger.records import Run
    from ipytorchseed.session.session import Session


TRACKING_OFF = "tracking is off; %config IPyTorchSeed.tracking = True records runs from now on"

# How many runs an error names.
_NAMED = 8

# How many runs completion offers.
_OFFERED = 50


def find_run(session: Session, word: str) -> Run:
    """Return the run that a word names, of this kernel or else of earlier ones.

    Raises:
        LookupFailure: There is none; the message names the last runs.
    """
    named = re.fullmatch(r"#(\d{1,15})|(\d{1,15})|In\[(\d{1,15})\]", word.strip())
    run = None
    if named and named.group(1):
        run = session.ledger.run(int(named.group(1)))
    elif named:
        count = int(named.group(2) or named.group(3))
        run = session.ledger.find(session.shelf, count, session.kernel)
    if run is None:
        raise LookupFailure(f"no run {quoted(word)} is recorded; {known_runs(session)}")
    whose = _whose(session, run.notebook)
    if whose and run.notebook != session.shelf:
        ranks = f"{whose}, and this process {_whose(session, session.shelf)}"
        raise LookupFailure(f"#{run.id} is {ranks}: name a run of this process")
    return run


def _whose(session: Session, shelf: str) -> str:
    """Return the rank in a key of this notebook; empty for another notebook."""
    found = re.fullmatch(rf"{re.escape(session.notebook)}(?:, (rank \d+))?", shelf)
    return "" if found is None else f"of {found.group(1) or 'no rank'}"


def known_runs(session: Session) -> str:
    """Return a clause that names the last runs."""
    names = [run_name(run, session.kernel) for run in islice(_results(session), _NAMED)]
    known = f"the last ones are {', '.join(reversed(names))}" if names else "none is recorded yet"
    return known if session.config.tracking else f"{known}; {TRACKING_OFF}"


def _results(session: Session) -> Iterator[Run]:
    """Yield the runs of cells that do more than use our magics, latest first."""
    from ipytorchseed.reads.own_lines import only_asks

    runs = session.ledger.runs(session.shelf)
    return (run for run in runs if not only_asks(run.source))


def recent_runs(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Return the completions of a run's name for click, latest first."""
    session: Session = ctx.obj[0].tracking.session
    words = (run_word(run, session.kernel) for run in _results(session))
    return [*islice((word for word in words if word.startswith(incomplete)), _OFFERED)]
