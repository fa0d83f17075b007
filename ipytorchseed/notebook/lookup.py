"""Finds the run that a user names.

``5`` means ``In[5]``, and ``#17`` means the ledger's number 17.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import click

from ipytorchseed.errors import LookupFailure, did_you_mean, quoted
from ipytorchseed.ledger.records import Run
from ipytorchseed.questions import RUN
from ipytorchseed.reads.own_lines import is_inspection
from ipytorchseed.session.asking import last_setting
from ipytorchseed.session.session import Session
from ipytorchseed.why.evidence import run_name, run_word

TRACKING_OFF = "tracking is off; %config IPyTorchSeed.tracking = True records runs from now on"

# How many runs completion offers, and how many are searched for what a mistyped word may mean.
_NEAR = 50

# How many runs an error names.
_NAMED = 8


def find_run(session: Session, word: str) -> Run:
    """Return the run that a word names, in this kernel or else in an earlier one.

    Raises:
        LookupFailure: There is none (the message names the last runs), or it is of another rank.
    """
    named = RUN.match(word.strip())
    number, key = "" if named is None else named[1] or named[2], session.history_key
    run = None
    if number.startswith("#"):
        run = session.ledger.run(int(number[1:]))
    elif number:
        run = session.ledger.find(key, int(number), session.kernel)
    if run is None:
        raise LookupFailure(f"no run {quoted(word)} is recorded; {known_runs(session)}")
    if run.notebook != key and run.notebook.partition(", rank ")[0] == session.notebook:
        raise LookupFailure(f"#{run.id} is a run of another rank: name a run of this process")
    return run


def run_of(session: Session, word: str) -> Run:
    """Return the run that a number, a cell or a variable names.

    Raises:
        LookupFailure: There is none; the message names the last runs.
    """
    return find_run(session, word) if RUN.match(word) else run_named(session, word)


def run_named(session: Session, word: str) -> Run:
    """Return the last run of a cell, by its id, or the run that last set a variable.

    Raises:
        LookupFailure: There is none; the message suggests a name or names the last runs.
    """
    run = session.ledger.last_run(session.history_key, session.identity.key_of(word))
    if run is None or run.source.strip() == word:  # without an id, a cell is identified by its text
        run = last_setting(session, word) or run
    if run is None:
        recent = session.ledger.runs(session.history_key, limit=_NEAR)
        known = {name for each in recent for name in (each.cell, *each.writes)}
        meant = did_you_mean(word, {*known, "on", "off", "all"})
        if meant:
            raise LookupFailure(f"no variable or cell {quoted(word)} is on record{meant}")
        said = f"{quoted(word)} is recorded; {known_runs(session)}"
        raise LookupFailure(f"no variable, cell or run {said}")
    return run


def own_run(session: Session, word: str) -> Run:
    """Return the run of this notebook that a word names.

    Raises:
        LookupFailure: There is none, or it belongs to a different notebook.
    """
    run = find_run(session, word)
    if run.notebook != session.history_key:
        raise LookupFailure(f"{word} is a run of another notebook; use the command there")
    return run


def known_runs(session: Session) -> str:
    """Return a clause that names the last runs."""
    names = [run_name(run, session.kernel) for run in islice(_results(session), _NAMED)]
    known = f"the last ones are {', '.join(reversed(names))}" if names else "none is recorded yet"
    return known if session.config.tracking else f"{known}; {TRACKING_OFF}"


def _results(session: Session) -> Iterator[Run]:
    """Yield the runs of cells that do more than use our magics, latest first."""
    runs = session.ledger.runs(session.history_key)
    return (run for run in runs if not is_inspection(run.source))


def recent_runs(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Return the completions of a run's name for click, latest first."""
    session: Session = ctx.obj.tracking.session
    words = (run_word(run, session.kernel) for run in _results(session))
    return [*islice((word for word in words if word.startswith(incomplete)), _NEAR)]
