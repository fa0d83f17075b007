"""Finds opaque inputs that a run may have changed."""

from __future__ import annotations

from collections.abc import Iterator

from ipytorchseed.ledger.records import Run
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Blame, Cause
from ipytorchseed.why.unknown import may_alter, say_effect, say_use, unseen

_TOLD = 3


def find_unseen(evidence: Evidence) -> Iterator[Cause]:
    """Find opaque inputs that runs used between the two runs.

    If only the cell itself may have altered an input, the cell may continue from its earlier run.
    """
    cell, written = evidence.run.cell, evidence.states.written
    for name in unseen(evidence.against.reads, evidence.run.reads):
        users = [run for run in evidence.here if name in run.reads or name in run.writes]
        bound = [run for run in users if name in run.writes and name not in run.in_place]
        users = users[users.index(bound[-1]) :] if bound else users
        # Uses by the cell itself happened in both runs, unless the cell created the input again.
        others = [run for run in users if run.cell != cell] or bound[-1:]
        blame = tuple(
            Blame(run, f"made `{name}` again" if run in bound else _use(evidence, run, name))
            for run in others[-_TOLD:]
        )
        altered = [run for run in users if may_alter(run, written(run), name, cell)]
        own = {run.cell for run in altered} == {cell} and not (bound or evidence.two_cells)
        did = "; ".join(f"{evidence.name(each.run)} {each.how}" for each in blame if each.run)
        if own and (others or not blame):
            blame = (Blame(altered[-1], _use(evidence, altered[-1], name)),)
            did = f"this cell {blame[0].how} and may continue from its earlier run"
        if blame:
            message = f"{did}; `{name}` cannot be inspected, and no other input changed"
            yield Cause("input", name, message, blame=blame, prevents=not bound)


def _use(evidence: Evidence, run: Run, name: str) -> str:
    """Return a phrase about how a run used a variable."""
    text = evidence.states.written(run)
    return say_effect(run, text, name) or say_use(text.calls, name) or f"used `{name}`"
