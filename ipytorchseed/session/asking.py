"""Finding the runs that a question is about, and the evidence for the answer."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from ipytorchseed.errors import LookupFailure
from ipytorchseed.rng.table import sources
from ipytorchseed.session.states import LedgerStates
from ipytorchseed.why.explain import explain

if TYPE_CHECKING:
    from ipytorchseed.ledger.records import Run
    from ipytorchseed.session.session import Session
    from ipytorchseed.why.explanation import Explanation

_LOOKED_BACK = 500
"""Runs that are looked through for a cell that ran more than once."""

_HISTORY = 250
"""Runs between the two that are looked at for blame, the latest ones."""


def why(session: Session, run: Run, against: Run | None = None) -> Explanation:
    """Explain a run.

    Args:
        session: Whose ledger to ask.
        run: The run asked about.
        against: The run to hold it against; None for the cell's run before it.
    """
    ledger = session.ledger
    if against is None:
        earlier = ledger.last_runs_of_cell(run.notebook, run.cell, 1, before_id=run.id)
        against = earlier[0] if earlier else None
    history: list[Run] = []
    if against is not None and against.id is not None and run.id is not None:
        numbers = ledger.run_ids_between(run.notebook, against.id, run.id - 1)
        begin = numbers[-_HISTORY] - 1 if len(numbers) > _HISTORY else against.id
        history = [against, *ledger.runs_between(run.notebook, begin, run.id - 1)]
    return explain(run, against, history, LedgerStates(ledger, run, sources()))


def last_repeated(session: Session) -> Run:
    """Return the last run of a cell that ran more than once.

    Raises:
        LookupFailure: No cell did, or none is recorded; the message says which.
    """
    latest: dict[str, Run] = {}
    newest = None
    for run in islice(session.ledger.runs(session.notebook), _LOOKED_BACK):
        if only_magics(run.source):
            continue
        newest = newest or run
        if run.cell in latest:
            return latest[run.cell]
        latest[run.cell] = run
    if newest is not None:
        return newest
    msg = "no run is recorded yet; run a cell, run it again, and ask then"
    raise LookupFailure(msg)


def only_magics(source: str) -> bool:
    """Tell whether a cell only asks or commands us, as ``%why`` and ``%seed`` do."""
    lines = [line.strip() for line in source.splitlines() if line.strip()]
    return all(line.startswith(("%why", "%rng", "%seed", "%deterministic", "#")) for line in lines)
