"""Clears what acts, by the text of cells, on nothing that changed, or is not read."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ipytorchseed.fingerprint.value import same
from ipytorchseed.ledger.records import Run
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.inside import look_inside
from ipytorchseed.reads.parsing import names_in, parse_text
from ipytorchseed.reads.slices import OUTPUT, RESULT, Known, Slice, find_slice
from ipytorchseed.reads.unwritten import find_reading
from ipytorchseed.why.changes import SHOWN_OTHERWISE
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Cause, Change, Cleared
from ipytorchseed.why.finders.bearing import PLAIN, SCALARS
from ipytorchseed.why.words import listed

_OUT_OF_REACH = "acts, by the cell's text, on nothing that changed"

_OWN = "acts, by the cell's text, on nothing that changed but {}"

_UNWRITTEN = "is read only on the way to write a file, and none was written"

_UNHEARD = lazy_pattern(r"\.cache|\.config|\.local|\bsubprocess\b|\bos\.system\b")
"""Text of cells that may write where nobody listens."""

_OBJECTS = frozenset({"dtype", "module", "namespace", "object", "optimizer", "scheduler"})
"""Kinds of objects that run no code of the user's, where none of that is read."""

_HOLDERS = frozenset({"deque", "dict", "list", "set", "tuple"})
"""Kinds of values that hold other objects, unless all are numbers."""

_COUNTS = frozenset({"deque", "dict", "int", "list", "set"})
"""Kinds of values that cells count by, or keep what they did in."""


def without_reach(case: Evidence, causes: list[Cause]) -> tuple[list[Cause], list[Cleared]]:
    """Clear causes on which, by the cell's text, nothing hangs that changed.

    Args:
        case: The evidence.
        causes: What was found in it.
    """
    if len(causes) <= 1:
        return causes, []
    left = _within_reach(case, causes, case.changed)
    return left or causes, [
        Cleared(each.kind, each.name, _OUT_OF_REACH) for each in causes if left and each not in left
    ]


def account_for_all(case: Evidence, causes: Sequence[Cause]) -> bool:
    """Tell whether causes account for all that changed, for all one knows.

    An edit does not for a variable that the same statements make as before: it only prints.

    Args:
        case: The evidence.
        causes: What was found in it.
    """
    if not causes or any(each.kind != "code" for each in causes):
        return bool(causes)
    timed = {*case.run.timed} & {*case.against.timed}
    made = {each.name for each in case.changed if each.what == "variable"} - timed
    for name in made:
        was, now = (_slice(case, run, {name}, None) for run in (case.against, case.run))
        if was is not None and now is not None and was.statements == now.statements:
            return False
    return True


def without_counters(case: Evidence, causes: list[Cause]) -> tuple[list[Cause], list[Cleared]]:
    """Clear counts and logs that the cell itself goes on with, where nothing else hangs on them.

    As on ``runs += 1``, and on ``scores[runs] = score``, which changes in each run.

    Args:
        case: The evidence.
        causes: What was found in it.
    """
    reads, before = case.run.reads, case.against.reads
    made = {each.name for each in case.changed if each.what == "variable"}
    names = {
        name
        for name in made & reads.keys() & before.keys()
        if reads[name].kind in _COUNTS and same(before[name], reads[name]) is False
    }
    own = [each for each in causes if each.kind == "input" and each.name in names]
    others = [each for each in case.changed if each.what != "variable" or each.name not in names]
    if not (own and others):
        return causes, []
    left = _within_reach(case, causes, others, _sharing(case))
    gone = [each for each in own if left and each not in left]
    reason = _OWN.format(listed(sorted(names)))
    return [each for each in causes if each not in gone], [
        Cleared(each.kind, each.name, reason) for each in gone
    ]


def _sharing(case: Evidence) -> list[set[str]]:
    """Return the inputs that may hold the same objects: those that changed, and those that did not.

    Who holds what changed has changed as well; a generator holds nothing.
    """
    before = case.against.reads
    reads = {name: each for name, each in case.run.reads.items() if each.kind != "rng"}
    alike = {name for name, each in reads.items() if name in before and same(before[name], each)}
    return [alike, reads.keys() - alike]


def _within_reach(
    case: Evidence,
    causes: Sequence[Cause],
    changed: Sequence[Change],
    sharing: Sequence[set[str]] | None = None,
) -> list[Cause]:
    """Return the causes on which some of what changed may hang; all where that is not known."""
    goals = {_goal(each) for each in changed}
    found = [_slice(case, run, goals, sharing) for run in (case.against, case.run)]
    slices = [each for each in found if each is not None]
    if None in goals or len(slices) < len(found):
        return [*causes]
    return [each for each in causes if _reaches(case, each, slices)]


def _goal(change: Change) -> str | None:
    """Return the goal of a slice for something that changed; None where there is none."""
    shown = None if change.detail == SHOWN_OTHERWISE else OUTPUT
    return {"variable": change.name, "result": RESULT, "stdout": OUTPUT, "display": shown}.get(
        change.what
    )


def _slice(
    case: Evidence, run: Run, goals: set[str | None], sharing: Sequence[set[str]] | None
) -> Slice | None:
    if case.two_cells or case.elsewhere or run.error or run.replaced:
        return None
    tree = parse_text(run.source)
    if tree is None:
        return None
    kinds: dict[str, set[str]] = {}
    holders = set[str]()
    for each in (case.against, case.run):
        for name, value in (*each.reads.items(), *each.writes.items()):
            kinds.setdefault(name, set()).add(value.kind)
            holders |= {name} if value.kind in _HOLDERS and value.series is None else set()
    plain = {name for name, of in kinds.items() if of <= PLAIN}
    objects = {name for name, of in kinds.items() if of <= PLAIN | _OBJECTS} - plain
    others = kinds.keys() - plain - objects
    inside = _inside(case, {name for name in others if "." not in name})
    unnamed = {name for name in run.reads if "." not in name} - names_in(tree)
    if not unnamed <= (inside or set()):
        return None  # nobody knows what code it is that reads them
    if unnamed & others:  # of which objects may be made
        others |= objects | (holders & plain)
        plain, objects = plain - holders, set()
    scalars = {name for name, of in kinds.items() if of <= SCALARS}
    known = Known(plain, holders, objects, others, inside, scalars, sharing)
    return find_slice(run.source, {*filter(None, goals)}, known)


def without_unwritten(case: Evidence, causes: list[Cause]) -> tuple[list[Cause], list[Cleared]]:
    """Clear inputs that are read only on the way to write a file, where none was written.

    Args:
        case: The evidence.
        causes: What was found in it.
    """
    runs = (case.against, case.run)
    known = not (case.two_cells or case.elsewhere or any(each.error or each.wrote for each in runs))
    loaded = {*(each.path for each in case.run.files)} & {
        *(each.path for each in case.against.files)
    }
    left = [*causes]
    if known and loaded and len(causes) > 1:
        never = _unread(case)
        left = [each for each in causes if each.kind != "input" or each.name not in never]
    if not left:
        return causes, []
    return left, [Cleared(each.kind, each.name, _UNWRITTEN) for each in causes if each not in left]


def _unread(case: Evidence) -> set[str]:
    """Name what no code reads that the notebook has, but on its way to write a file."""
    sources = _sources(case)
    found = {source: find_reading(source) for source in sources}
    code = {name for name, value in case.run.reads.items() if value.kind not in PLAIN}
    if _inside(case, {name for name in code if "." not in name}) is None or None in found.values():
        return set()
    if any(map(_UNHEARD.search, sources)):
        return set()
    cells = {case.run.source, case.against.source}
    never, read = set[str](), set[str]()
    for source, reading in found.items():
        if reading is not None:
            never |= reading.writing
            read |= reading.always if source in cells else reading.inside
    return never - read


def _sources(case: Evidence) -> set[str]:
    runs = (case.run, case.against, *case.states.latest(case.run))
    return {each.source for each in runs}


def _inside(case: Evidence, code: set[str]) -> set[str] | None:
    """Return the names in all functions and classes of the notebook; None where some are unknown.

    Args:
        case: The evidence.
        code: Names of functions and classes that must be among them.
    """
    found, defined = set[str](), set[str]()
    for source in _sources(case):
        looked = look_inside(source)
        if looked is None:
            return None
        defined |= looked[0]
        found |= looked[1]
    return found if code <= defined else None


def _reaches(case: Evidence, cause: Cause, slices: Sequence[Slice]) -> bool:
    """Tell whether something that changed may hang on a cause, by slices of both texts."""
    if cause.kind == "code":
        return slices[0].statements != slices[1].statements
    if cause.kind == "rng":
        return not all(each.quiet for each in slices)
    if cause.kind != "input" or any(each.opaque for each in slices):
        return True
    root, value = cause.name.partition(".")[0], case.run.reads.get(cause.name)
    named = re.search(rf"\b{re.escape(root)}\b", case.run.source)
    if value is None or named is None or any(root in each.names for each in slices):
        return True
    read = {each for each in case.run.reads if "." in each}.union(*(s.outside for s in slices))
    holders = [each for each in read & case.run.reads.keys() if _may_hold(case, each)]
    return value.kind not in SCALARS and bool(holders)


def _may_hold(case: Evidence, name: str) -> bool:
    """Tell whether what a name holds may hold a value that changed: its own content changed too."""
    value, before = case.run.reads[name], case.against.reads.get(name)
    flat = value.kind in PLAIN and (value.kind not in _HOLDERS or value.series is not None)
    return not flat and not (before is not None and same(before, value))
