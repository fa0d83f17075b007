"""Finds inputs with the same content in another form."""

from __future__ import annotations

from collections.abc import Iterator

from ipytorchseed.fingerprint.value import (
    DERIVED,
    FORMS,
    OUTDATED,
    SHARED,
    Fingerprint,
    forms,
    results,
    same,
)
from ipytorchseed.ledger.records import Run
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Blame, Cause
from ipytorchseed.why.finders.changers import MADE, MOST_TOLD, find_changers, is_created_by
from ipytorchseed.why.finders.generators import drew_more
from ipytorchseed.why.words import first_of, listed

# The part of a cached function that counts its kept results: fewer than before, or more.
_KEPT, _FILLED = "kept", "filled"

# The form of an object that no longer keeps a cached property.
_DROPPED = "dropped"

# The part of numpy's generators that counts their spawned children.
_SPAWNED = "spawned"

# By form, phrases about the value and about who changed it.
_FORMS = {
    "random": ("holds a random generator that is in another state", "drew from it"),
    "strides": ("holds the same numbers in another order in memory", "changed it"),
    "order": ("holds the same items in another order", "changed it"),
    _SPAWNED: ("had spawned more or fewer generators", "spawned from it"),
    DERIVED: ("keeps another cached {}", "worked it out"),
    _DROPPED: ("no longer keeps a cached {}, which may have been out of date", "dropped it"),
    _KEPT: ("no longer keeps cached results, which may have been out of date", "emptied it"),
    _FILLED: ("already had a cached result, and did not draw numbers for it again", "made it"),
}


def find_forms(evidence: Evidence) -> Iterator[Cause]:
    """Yield inputs with the same content in another form.

    Generators within a few steps have their own names and their own finder; those here are deeper,
    or in a module. Set order differs between kernels, so only changes within a kernel count.
    """
    drew_less = any(drew_more(evidence, name) for name in evidence.run.after)
    for name, after in evidence.run.reads.items():
        before = evidence.against.reads.get(name)
        if before is None:
            continue
        if after.kind == "rng" and name not in evidence.run.generators:
            yield from _hidden_generator(evidence, name, before, after)
            continue
        moved, result = _moved(evidence, name, before, after, drew_less=drew_less)
        for part in moved[:1]:
            if part == SHARED:
                yield from _shared(evidence, name, before, after)
                continue
            if part == OUTDATED:
                yield from _outdated(evidence, name, before, after)
                continue
            what, how = _FORMS[part][0].format(result), _FORMS[part][1]
            aspect = {_FILLED: _KEPT, _DROPPED: DERIVED}.get(part, part)
            blame = tuple(
                Blame(run, MADE if is_created_by(run, name) else how)
                for run in _changed_form(evidence, name, aspect)
            )
            message = f"`{name}` {what}{evidence.doings(blame[-MOST_TOLD:])}"
            stood = [_state(value, aspect, result) for value in (before, after)]
            proof = f"state {' → '.join(stood)}"
            lost = part in (DERIVED, _DROPPED, _KEPT, _FILLED, _SPAWNED)  # cannot be restored
            yield Cause("input", name, message, proof, blame=blame, prevents=lost)


def _moved(
    evidence: Evidence, name: str, before: Fingerprint, after: Fingerprint, *, drew_less: bool
) -> tuple[list[str], str]:
    """Return the forms in which a value differs, and the cached property, if any.

    Args:
        evidence: The evidence.
        name: The value's name.
        before: The value at the earlier run.
        after: The value at the later run.
        drew_less: Whether the later run drew less from some source.
    """
    moved, result = list[str](), ""
    for part, was, now in zip(FORMS, forms(before), forms(after), strict=True):
        if was == now:
            continue
        told = same(before, after) is True and (part != "order" or evidence.same_kernel)
        moved += [part] if told or part == "random" else []
    if same(before, after) is True:
        kept = [int(value.parts.get(_KEPT, "0")) for value in (before, after)]
        moved += [_KEPT] if kept[1] < kept[0] else []
        moved += [_FILLED] if kept[1] > kept[0] and drew_less else []
        known = results(before)
        result = next((n for n, it in results(after).items() if known.get(n, it) != it), "")
        moved += [DERIVED] if result else []
        if not result and not any(is_created_by(run, name) for run in _writers(evidence, name)):
            result = next((each for each in known if each not in results(after)), "")
            moved += [_DROPPED] if result else []
    spawned = {value.parts.get(_SPAWNED) for value in (before, after)} - {None}
    moved += [_SPAWNED] if len(spawned) > 1 else []
    return moved, result


def _writers(evidence: Evidence, name: str) -> list[Run]:
    """Return the runs after the earlier one that set or changed a variable."""
    return [run for run in evidence.history if run is not evidence.against and name in run.writes]


def _shared(
    evidence: Evidence, name: str, before: Fingerprint, after: Fingerprint
) -> Iterator[Cause]:
    """Yield a cause if variables began or ceased to share an object, for one of them."""
    was, now = ([*value.parts.get(SHARED, "").split()] for value in (before, after))
    others = [each for each in (now or was) if each != name and not each.isdigit()]
    if any(each < name for each in others):
        return
    again = "" if len(now) > len(was) or (now and not was) else "no longer "
    if others:
        holds = "is" if again else "is now"
        message = f"`{name}` {holds} {again}the same object as `{others[0]}`, or a view of it"
    else:
        message = f"`{name}` {again}holds one object in several places: "
        message += "a change in one place appears in all"
    names = {name, *others}
    makers = [run for run in evidence.history if not names.isdisjoint(run.writes)]
    blame = tuple(Blame(run, MADE) for run in makers[-1:])
    # A replay compares content only, and would keep the present objects.
    yield Cause("input", name, f"{message}{evidence.doings(blame)}", blame=blame, prevents=True)


def _outdated(
    evidence: Evidence, name: str, before: Fingerprint, after: Fingerprint
) -> Iterator[Cause]:
    """Yield a cause if an object began or ceased to be of a class since redefined."""
    was, now = ([*filter(None, it.parts.get(OUTDATED, "").split(", "))] for it in (before, after))
    old = [each for each in now if each not in was]
    told = first_of(old or [each for each in was if each not in now], 1)
    if old:
        names = {kind.partition(".")[0] for kind in old}
        makers = [run for run in evidence.history if not names.isdisjoint(run.writes)][-1:]
        message = f"`{name}` is still an object of the old class {told}"
        blame = tuple(Blame(run, f"redefined {told}") for run in makers)
    else:
        makers = [run for run in evidence.history if name in run.writes][-1:]
        message = f"`{name}` is an object of the new class {told}, and was one of the old class"
        blame = tuple(Blame(run, MADE) for run in makers)
    yield Cause("input", name, f"{message}{evidence.doings(blame)}", blame=blame, prevents=True)


def _hidden_generator(
    evidence: Evidence, name: str, before: Fingerprint, after: Fingerprint
) -> Iterator[Cause]:
    """Yield the cause for a local module's generator, which is not in the namespace."""
    if same(before, after) is False:
        blame = tuple(find_changers(evidence, name))
        proof = f"state {before.digest[:8]} → {after.digest[:8]}"
        who = listed(evidence.name(each.run) for each in blame[-MOST_TOLD:] if each.run is not None)
        message = f"`{name}` had moved on" + (f": {who} drew from it" if who else "")
        yield Cause("rng", name, message, proof, blame=blame)


def _state(value: Fingerprint, part: str, result: str) -> str:
    if part == DERIVED:
        return results(value).get(result, "none")
    return value.parts.get(part, "none")[:8]


def _changed_form(evidence: Evidence, name: str, part: str) -> Iterator[Run]:
    """Yield the runs after which a value had another form than before."""
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
