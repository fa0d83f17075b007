"""Finds opaque inputs that a run has used since, if no other cause is known."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from ipytorchseed.reads.entropy import is_program
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Blame, Cause
from ipytorchseed.why.finders.changers import MADE
from ipytorchseed.why.unknown import unseen

_TOLD = 3

_USED = "used it"


def find_unseen(evidence: Evidence) -> Iterator[Cause]:
    """Find opaque inputs and the runs that used them."""
    if any(map(is_program, evidence.run.nondeterministic_calls)):
        return
    for name in unseen(evidence.against.reads, evidence.run.reads):
        users = [run for run in evidence.here if name in run.reads or name in run.writes]
        bound = [run for run in users if name in run.writes and name not in run.in_place]
        users = users[users.index(bound[-1]) :] if bound else users
        blame = tuple(Blame(run, MADE if run in bound else _USED) for run in users[-_TOLD:])
        if all(run.cell == evidence.run.cell for run in users):
            # Only the cell used it, as it did in both runs; it may have made it from itself.
            own = tuple(Blame(run, MADE) for run in bound[-1:])
            blame = own or _wrote_behind(evidence, name)
        if blame:
            used = [each for each in blame if each.how == _USED]
            who = evidence.doings([each for each in blame if each.how != _USED])
            who += f"; {evidence.who(used)} used it" if used else ""
            message = f"no other input changed, but `{name}` cannot be inspected{who}"
            yield Cause("input", name, message, blame=blame, prevents=not bound)


def _wrote_behind(evidence: Evidence, name: str) -> tuple[Blame, ...]:
    """Return the last run since that wrote a file of the run that created a value.

    A connection to a database may be unchanged while the database is not.

    Args:
        evidence: The evidence.
        name: The variable.
    """
    made = (
        run
        for run in evidence.latest
        if run.kernel == evidence.run.kernel and name in run.writes and name not in run.in_place
    )
    maker = next(made, None)
    if maker is None:
        return ()
    files = {*maker.outside.wrote, *(file.path for file in maker.files)}
    for run in evidence.here[::-1]:
        wrote = sorted(files.intersection(run.outside.wrote))
        if wrote and run.cell != evidence.run.cell:
            how = (
                f"wrote {PurePath(wrote[0]).name}, which {evidence.name(maker)} used to make {name}"
            )
            return (Blame(run, how),)
    return ()
