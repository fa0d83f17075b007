"""Clears inputs whose changed parts the cell was observed not to read."""

from __future__ import annotations

from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.ledger.records import Observed
from ipytorchseed.reads.dependencies import is_result
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.value_changes import changed_parts
from ipytorchseed.why.words import first_of

NOT_READ = "not read"
SET_FIRST = "assigned first: the cell sets it before it reads it"

_MAX_NAMED = 3


def say_unread(evidence: Evidence, name: str, before: Fingerprint, after: Fingerprint) -> str:
    """Return why the difference in an input cannot matter, or "" if it may matter.

    Args:
        evidence: The evidence.
        name: The input.
        before: Its value in the earlier run.
        after: Its value in the later run.
    """
    seen = [run.observed for run in (evidence.against, evidence.run) if run.observed is not None]
    if len(seen) < 2 or any(each.unseen for each in seen):  # noqa: PLR2004 -- both runs
        return ""
    if "." in name or is_result(name) or "class" in (before.kind, after.kind):
        return ""  # code can read these values without naming them, and that is not observed
    if not any(name in each.read for each in seen):
        return SET_FIRST if any(name in each.set_first for each in seen) else NOT_READ
    return _say_parts(name, seen, before, after)


def _say_parts(name: str, seen: list[Observed], before: Fingerprint, after: Fingerprint) -> str:
    """Return a clause that only unchanged parts were read, or "" if that is uncertain."""
    read = [each.read[name] for each in seen if name in each.read]
    if not (all(read) and before.exact and after.exact):
        return ""
    paths = sorted({path for each in read for path in each})
    parts = {*map(_part, paths)}
    changed = changed_parts(before, after)
    if not (parts <= before.parts.keys() & after.parts.keys() and changed):
        return ""
    touched = {_item(part) for part in changed} & {_item(part) for part in parts}
    whole = after.kind == "frame" and any(part[:2] != "k:" for part in changed)
    if touched or whole:  # all columns of a frame share its index
        return ""
    return f"{NOT_READ}: the cell reads only {first_of([name + it for it in paths], _MAX_NAMED)}"


def _item(part: str) -> str:
    """Return the item or attribute that contains a part."""
    return part.partition(".")[0]


def _part(path: str) -> str:
    """Return the fingerprint's part for a path in code: ``a:lr`` for ``.lr``."""
    if path[0] == ".":
        return f"a:{path[1:]}"
    key = path[1:-1]
    return f"k:{key[1:-1]}" if key[0] in "'\"" else f"k:[{key}]"
