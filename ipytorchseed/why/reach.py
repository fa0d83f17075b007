"""Clears what acts, by the text of a cell, on nothing that changed."""

from __future__ import annotations

import re

from ipytorchseed.ledger.records import Run
from ipytorchseed.reads.parsing import names_in, parse_text
from ipytorchseed.reads.slices import OUTPUT, RESULT, Known, Slice, find_slice
from ipytorchseed.why.changes import SHOWN_OTHERWISE
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Cause, Change, Cleared
from ipytorchseed.why.finders.bearing import PLAIN

_OUT_OF_REACH = "acts, by the cell's text, on nothing that changed"

_OBJECTS = frozenset({"dtype", "module", "namespace", "object", "optimizer", "scheduler"})
"""Kinds of objects that run no code of the user's, where none of that is read."""

_HOLDERS = frozenset({"deque", "dict", "list", "set", "tuple"})
"""Kinds of values that hold other objects, unless all are numbers."""


def without_reach(case: Evidence, causes: list[Cause]) -> tuple[list[Cause], list[Cleared]]:
    """Clear causes on which, by the cell's text, nothing hangs that changed.

    Args:
        case: The evidence.
        causes: What was found in it.
    """
    if len(causes) <= 1:
        return causes, []
    goals = {_goal(each) for each in case.changed}
    slices = [_slice(case, run, goals) for run in (case.against, case.run)]
    then, now = slices
    if None in goals or then is None or now is None:
        return causes, []
    left = [each for each in causes if _reaches(each, then, now)]
    if not left:
        return causes, []
    return left, [
        Cleared(each.kind, each.name, _OUT_OF_REACH) for each in causes if each not in left
    ]


def _goal(change: Change) -> str | None:
    """Return the goal of a slice for something that changed; None where there is none."""
    shown = None if change.detail == SHOWN_OTHERWISE else OUTPUT
    return {"variable": change.name, "result": RESULT, "stdout": OUTPUT, "display": shown}.get(
        change.what
    )


def _slice(case: Evidence, run: Run, goals: set[str | None]) -> Slice | None:
    if case.two_cells or case.elsewhere or run.error or run.replaced:
        return None
    tree = parse_text(run.source)
    if tree is None or not names_in(tree).issuperset(run.reads):
        return None  # it reads variables by code of the user's that something leads to
    kinds: dict[str, set[str]] = {}
    holders = set[str]()
    for each in (case.against, case.run):
        for name, value in (*each.reads.items(), *each.writes.items()):
            kinds.setdefault(name, set()).add(value.kind)
            holders |= {name} if value.kind in _HOLDERS and value.series is None else set()
    plain = {name for name, of in kinds.items() if of <= PLAIN}
    objects = {name for name, of in kinds.items() if of <= PLAIN | _OBJECTS} - plain
    known = Known(plain, holders, objects, kinds.keys() - plain - objects)
    return find_slice(run.source, {*filter(None, goals)}, known)


def _reaches(cause: Cause, then: Slice, now: Slice) -> bool:
    if cause.kind == "code":
        return then.statements != now.statements
    if cause.kind == "rng":
        return not (then.quiet and now.quiet)
    if cause.kind != "input" or then.opaque or now.opaque:
        return True
    root = re.match(r"\w+", cause.name)
    return root is None or root[0] in then.names | now.names
