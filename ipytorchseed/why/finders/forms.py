"""Finds inputs that differ only in form: in aspects that digests do not cover.

Such aspects are the memory layout, the order of a set, cached results, and shared objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from ipytorchseed.fingerprint.value import DERIVED, OUTDATED, SHARED, Fingerprint, results, same
from ipytorchseed.ledger.records import Run
from ipytorchseed.why.evidence import Evidence
from ipytorchseed.why.explanation import Blame, Cause
from ipytorchseed.why.finders.changers import MADE, MOST_TOLD, find_changers, is_created_by

# The parts that describe the form of a value. Each has a phrase that says how the value differs,
# and a phrase that says what a run did to change it.
_ANY = {"random": ("holds a random generator that is in a different state", "drew from it")}
_SAME_CONTENT = {
    "strides": ("holds the same numbers in another order in memory", "changed it"),
    "order": ("holds the same items in another order", "changed it"),
    "kept": ("holds other cached results, which may be outdated", "changed its cache"),
    DERIVED: ("holds other cached results, which may be outdated", "changed its cache"),
}
_SPAWNED = {"spawned": ("had spawned more or fewer generators", "spawned from it")}

# Forms that ``%replay`` restores together with the content.
_RESTORED = ("random", "strides", "order")


def find_forms(evidence: Evidence) -> Iterator[Cause]:
    """Yield inputs that have the same content in another form.

    Generators that the record lists by name have their own finder. This one finds generators that
    are in a module or deep inside an object.
    """
    for name, after in evidence.run.reads.items():
        before = evidence.against.reads.get(name)
        if before is None:
            continue
        if after.kind == "rng" and name not in evidence.run.generators:
            if same(before, after) is False:
                blame = tuple(find_changers(evidence, name))
                message = f"`{name}` was in a different state{evidence.doings(blame[-MOST_TOLD:])}"
                yield Cause("rng", name, message, blame=blame)
        else:
            found = chain(
                _parts(evidence, name, before, after), _others(evidence, name, before, after)
            )
            yield from islice(found, 1)


def _parts(
    evidence: Evidence, name: str, before: Fingerprint, after: Fingerprint
) -> Iterator[Cause]:
    """Yield a cause for each part of an input that describes its form and differs."""
    forms = {**_ANY, **(_SAME_CONTENT if same(before, after) is True else {}), **_SPAWNED}
    if not evidence.same_kernel:
        del forms["order"]  # the order of a set differs between kernels
    for part, (what, how) in forms.items():
        if _form(before, part) != _form(after, part):
            runs = _changers(evidence, name, part)
            yield _cause(evidence, name, what, how, runs, prevents=part not in _RESTORED)


def _others(
    evidence: Evidence, name: str, before: Fingerprint, after: Fingerprint
) -> Iterator[Cause]:
    """Yield causes for shared objects, and for objects whose class was redefined."""
    if same(before, after) is not True:
        return
    was, now = (value.parts.get(SHARED, "").split() for value in (before, after))
    others = [each for each in (now or was) if each != name and not each.isdigit()]
    if was != now and not any(each < name for each in others):
        more = "now" if len(now) > len(was) else "no longer"
        what = f"{more} holds one object in several places: a change in one place appears in all"
        if others:
            what = f"is {more} the same object as `{others[0]}`, or a view of it"
        runs = _writers(evidence, {name, *others})
        yield _cause(evidence, name, what, MADE, runs)
    old, new = ({*filter(None, it.parts.get(OUTDATED, "").split(", "))} for it in (before, after))
    if new - old:
        what = f"is still an object of the old class {min(new - old)}"
        runs = _writers(evidence, {each.partition(".")[0] for each in new - old})
        yield _cause(evidence, name, what, f"redefined {min(new - old)}", runs)
    elif old != new:
        what = f"is an object of the new class {min(old - new)}, and was one of the old class"
        yield _cause(evidence, name, what, MADE, _writers(evidence, {name}))


def _cause(  # noqa: PLR0913 -- all parts of the message
    evidence: Evidence,
    name: str,
    what: str,
    how: str,
    runs: Iterable[Run],
    *,
    prevents: bool = True,
) -> Cause:
    blame = tuple(
        Blame(run, MADE if is_created_by(run, name) and name in run.writes else how) for run in runs
    )
    message = f"`{name}` {what}{evidence.doings(blame[-MOST_TOLD:])}"
    return Cause("input", name, message, blame=blame, prevents=prevents)


def _form(value: Fingerprint, part: str) -> object:
    """Return the recorded form of a value, as far as it can be compared."""
    return results(value) if part == DERIVED else value.parts.get(part)


def _writers(evidence: Evidence, names: set[str]) -> list[Run]:
    """Return the last run that set one of several variables, if any."""
    return [run for run in evidence.history if not names.isdisjoint(run.writes)][-1:]


def _changers(evidence: Evidence, name: str, part: str) -> Iterator[Run]:
    """Yield the runs that changed a part of a value."""
    known = evidence.against.reads[name].parts.get(part)
    last = evidence.against
    for run in [*evidence.history, evidence.run]:
        seen, made = run.reads.get(name), run.writes.get(name)
        if seen is not None:
            if seen.parts.get(part) != known:
                yield last
            known, last = seen.parts.get(part), run
        if made is not None and run is not evidence.run:
            if made.parts.get(part) != known:
                yield run
            known, last = made.parts.get(part), run
