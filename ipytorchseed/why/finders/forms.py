"""Finds inputs that differ only in aspects outside of their digests: forms.

Such aspects are the memory layout, the order of a set, cached results, and shared objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ipytorchseed.fingerprint.value import DERIVED, OUTDATED, SHARED, Fingerprint, results, same
from ipytorchseed.ledger.records import Run
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Blame, Cause
from ipytorchseed.why.finders.changers import MADE, MOST_TOLD, find_changers, is_created_by
from ipytorchseed.why.finders.generators import drew_more


class _Form(NamedTuple):
    """An aspect of a value that its digest leaves out.

    Attributes:
        part: The part of the fingerprint that describes the aspect.
        what: A phrase that says how the value differs.
        how: A phrase for what the run did that changed the aspect.
        by: The last run that set one of these variables changed the aspect. If empty, the recorded
            parts show which run did.
    """

    part: str
    what: str
    how: str
    by: frozenset[str] = frozenset()


_RANDOM = _Form("random", "holds a random generator that is in a different state", "drew from it")
_STRIDES = _Form("strides", "holds the same numbers in another order in memory", "changed it")
_ORDER = _Form("order", "holds the same items in another order", "changed it")
_SPAWNED = _Form("spawned", "had spawned more or fewer generators", "spawned from it")

# For function caches with fewer results than before, or with more.
_OUTDATED_RESULT = "which may have been outdated"
_EMPTIED = _Form("kept", f"has lost cached results, {_OUTDATED_RESULT}", "emptied it")
_DREW_BEFORE = "used a cached result, so it drew no numbers this time"
_FILLED = _Form("kept", _DREW_BEFORE, "made it")

# Forms that ``%replay`` restores together with the content.
_RESTORED = (_RANDOM, _STRIDES, _ORDER)


def find_forms(evidence: Evidence) -> Iterator[Cause]:
    """Yield inputs that have the same content in another form.

    Generators that the record lists by name have their own finder. Here, they are found if they are
    in a module or deep inside an object. The order of a set differs between kernels, so it counts
    only within one kernel.
    """
    drew_less = any(drew_more(evidence, name) for name in evidence.run.after)
    for name, after in evidence.run.reads.items():
        before = evidence.against.reads.get(name)
        if before is None:
            continue
        if after.kind == "rng" and name not in evidence.run.generators:
            if same(before, after) is False:
                blame = tuple(find_changers(evidence, name))
                who = evidence.who(blame[-MOST_TOLD:])
                message = f"`{name}` was in a different state" + (
                    f": {who} drew from it" if who else ""
                )
                yield Cause("rng", name, message, blame=blame)
            continue
        for form in [*_forms(evidence, name, before, after, drew_less=drew_less)][:1]:
            runs = _writers(evidence, form.by) if form.by else _changers(evidence, name, form.part)
            blame = tuple(
                Blame(run, MADE if is_created_by(run, name) and name in run.writes else form.how)
                for run in runs
            )
            message = f"`{name}` {form.what}{evidence.doings(blame[-MOST_TOLD:])}"
            yield Cause("input", name, message, blame=blame, prevents=form not in _RESTORED)


def _forms(
    evidence: Evidence, name: str, before: Fingerprint, after: Fingerprint, *, drew_less: bool
) -> Iterator[_Form]:
    """Yield the forms in which a value differs.

    Args:
        evidence: The evidence.
        name: The value's name.
        before: The value that the earlier run found.
        after: The value that the later run found.
        drew_less: Whether one run drew less from some source than the other run.
    """
    was, now = before.parts, after.parts
    moved = {part for part in [*was, *now] if was.get(part) != now.get(part)}
    if not evidence.same_kernel:
        moved.discard("order")
    yield from (form for form in (_RANDOM,) if form.part in moved)
    if same(before, after) is True:
        yield from (form for form in (_STRIDES, _ORDER) if form.part in moved)
        if SHARED in moved:
            yield from _shared(name, *(value.get(SHARED, "").split() for value in (was, now)))
        classes = [{*filter(None, it.get(OUTDATED, "").split(", "))} for it in (was, now)]
        if classes[0] != classes[1]:
            yield _outdated(name, *classes)
        yield from _caches(before, after, drew_less=drew_less)
    if "spawned" in moved and "spawned" in was and "spawned" in now:
        yield _SPAWNED


def _caches(before: Fingerprint, after: Fingerprint, *, drew_less: bool) -> Iterator[_Form]:
    """Yield a form for each cached result, inside a value, that differs.

    Args:
        before: The value that the earlier run found.
        after: The value that the later run found.
        drew_less: Whether one run drew less from some source than the other run.
    """
    kept = [int(value.parts.get("kept", "0")) for value in (before, after)]
    if kept[1] < kept[0]:
        yield _EMPTIED
    if kept[1] > kept[0] and drew_less:
        yield _FILLED
    known, found = results(before), results(after)
    for each in known:
        if each not in found:
            what = f"has lost its cached {each}, {_OUTDATED_RESULT}"
            yield _Form(DERIVED, what, "dropped it")
        elif found[each] != known[each]:
            yield _Form(DERIVED, f"has a different cached {each}", "computed it")


def _shared(name: str, was: list[str], now: list[str]) -> Iterator[_Form]:
    """Yield the form for variables that now, or no longer, share an object.

    It is yielded only for the variable whose name sorts first.

    Args:
        name: The variable.
        was: The names that shared its object at the earlier run, or a count of repeated objects.
        now: The same at the later run.
    """
    others = [each for each in (now or was) if each != name and not each.isdigit()]
    more = len(now) > len(was)
    if others:
        what = f"is {'now' if more else 'no longer'} the same object as `{others[0]}`"
        what += ", or a view of it"
    else:
        what = f"{'' if more else 'no longer '}holds one object in several places: "
        what += "a change in one place appears in all"
    if not any(each < name for each in others):
        yield _Form(SHARED, what, MADE, frozenset({name, *others}))


def _outdated(name: str, was: set[str], now: set[str]) -> _Form:
    """Return the form for objects whose class was redefined, or is current again.

    Args:
        name: The variable.
        was: The redefined classes inside its value at the earlier run.
        now: The same at the later run.
    """
    old = sorted(now - was)
    if old:
        classes = frozenset(kind.partition(".")[0] for kind in old)
        what = f"is still an object of the old class {old[0]}"
        return _Form(OUTDATED, what, f"redefined {old[0]}", classes)
    new = min(was - now)
    what = f"is an object of the new class {new}, and was one of the old class"
    return _Form(OUTDATED, what, MADE, frozenset({name}))


def _writers(evidence: Evidence, names: Iterable[str]) -> list[Run]:
    """Return the last run that set one of several variables, if any."""
    return [run for run in evidence.history if not run.writes.keys().isdisjoint(names)][-1:]


def _changers(evidence: Evidence, name: str, part: str) -> Iterator[Run]:
    """Yield the runs that changed a part of a value."""
    known = evidence.against.reads[name].parts.get(part)
    last = evidence.against
    for run in [*evidence.history, evidence.run]:
        seen, made = run.reads.get(name), run.writes.get(name)
        if seen is not None and seen.parts.get(part) != known:
            yield last
        if run is evidence.run:
            return
        if seen is not None:
            known, last = seen.parts.get(part), run
        if made is not None:
            if made.parts.get(part) != known:
                yield run
            known, last = made.parts.get(part), run
