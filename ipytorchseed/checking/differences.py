"""Finds variables and random sources that two runs of a cell left in different states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ipytorchseed.why.changes import find_changes
from ipytorchseed.why.explanation import Change

if TYPE_CHECKING:
    from ipytorchseed.ledger.records import Run
    from ipytorchseed.why.case import States


_NUMBERS = frozenset({"float", "complex", "number", "tensor", "array", "frame", "series"})
"""Kinds of results that are rounded where they are shown."""


def variables_apart(against: Run, run: Run, shown: tuple[Change, ...]) -> tuple[Change, ...]:
    """Return the variables that differ, and a result whose numbers differ in more than is shown.

    Args:
        against: The earlier run.
        run: The later one.
        shown: In what the outputs differ.
    """
    numbers = not shown and against.result is not None and against.result.kind in _NUMBERS
    kinds = {"variable", "result"} if numbers else {"variable"}
    return tuple(change for change in find_changes(against, run) if change.what in kinds)


def moved_apart(against: Run, run: Run, states: States) -> tuple[Change, ...]:
    """Return the sources that the cell itself brought apart.

    A source that began in other states and was only drawn from is not this cell's doing: what it
    drew shows in variables and outputs, if it matters.

    Args:
        against: The earlier run.
        run: The later one.
        states: Where they stand.
    """
    changes = []
    for name, ended in run.after.items():
        began, was = run.before.get(name), against.before.get(name)
        end_before = against.after.get(name)
        if end_before in (None, ended) or ended == began or began is None:
            continue
        if began == was or not states.leads(began, ended):  # seeded in between
            places = [states.position(name, digest) for digest in (end_before or "", ended)]
            stands = [
                str(place) if place is not None and place.seed is not None else digest[:8]
                for place, digest in zip(places, (end_before or "", ended), strict=True)
            ]
            changes.append(Change("source", name, " → ".join(stands)))
    return tuple(changes)
