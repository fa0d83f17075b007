"""Tells values that differ only in results which functions keep and look up again."""

from __future__ import annotations

from collections.abc import Collection

from ipytorchseed.fingerprint.value import Fingerprint, same
from ipytorchseed.reads.remembering import Remembering
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.finders.generators import drew_more
from ipytorchseed.why.value_changes import changed_parts, tells_items


def is_remembered(case: Evidence, name: str, moved: Collection[str]) -> bool:
    """Tell whether all that came to a value since are results that functions keep and look up.

    Whatever the same code asked for in the earlier run is there as it was left, and is what was
    found then; it asks for others only where something else has changed. Results that are no longer
    there count, and those for which numbers were drawn: they are not drawn again.

    Args:
        case: The evidence.
        name: The value's name.
        moved: The parts in which it differs, of those that the cell reads.
    """
    before, after = case.against.reads[name], case.run.reads[name]
    left, leaves = case.against.writes.get(name, before), case.run.writes.get(name, after)
    same_code = case.run.code == case.against.code and before.exact and after.exact
    kept = _holds(after, left, moved) and _holds(leaves, after, moved)
    code = Remembering.of(case.texts()) if same_code and kept else None
    if code is None or code.counts(but=name):
        return False
    if code.tells() and any(each.what in ("display", "stdout") for each in case.changed):
        return False
    if before.kind == after.kind == "object":
        found = all(part[:2] == "a:" and code.remembers(part[2:], attribute=True) for part in moved)
    else:
        found = _only_came(before, left, after) and code.remembers(name)
    return found and not any(drew_more(case, each) for each in case.run.ended)


def _holds(now: Fingerprint, before: Fingerprint, attributes: Collection[str]) -> bool:
    """Tell whether all items, and some attributes, of a value are unchanged; more may be there."""
    if same(before, now) is True:
        return True
    inside = {
        part: each
        for part, each in before.parts.items()
        if part[:2] == "k:" or (part[:2] == "a:" and part in attributes)
    }
    return before.kind == now.kind and bool(inside) and inside.items() <= now.parts.items()


def _only_came(before: Fingerprint, left: Fingerprint, after: Fingerprint) -> bool:
    """Tell whether a dictionary got items, and lost or changed none; or what was None got a value.

    What the earlier run left so, its own code made.
    """
    if before.kind in ("None", "dict") and same(left, after) is True:
        return True
    moved = {*changed_parts(before, after)}
    came = {part for part in moved if part not in before.parts}
    told = bool(moved) and tells_items(before) and tells_items(after)
    only = all(part[:2] == "k:" for part in came) and moved - came <= {"keys", "length"}
    return before.kind == after.kind == "dict" and told and only
