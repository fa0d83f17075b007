"""Compares a whole training run with its resumed one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.resume.leaves import Component, Leaf, Saved
from ipytorchseed.resume.watching import Batch, Course, Look
from ipytorchseed.rng.effort import Effort, TooFar, within
from ipytorchseed.rng.position import Position
from ipytorchseed.rng.table import locate, sources
from ipytorchseed.why.words import first_of


class Finding(Struct, frozen=True):
    """Something that a resumed training did not get back.

    Attributes:
        kind: ``source``, ``generator``, ``model``, ``buffer``, ``dtype``, ``optimizer``,
            ``scheduler``, ``scaler``, ``state``, ``loader``, ``worker``, ``data``, or of the
            training itself: ``train`` (does not repeat), ``steps`` (takes another number).
        name: How the code reaches it.
        step: The step before which it was seen, from 0.
        message: What differs, a sentence.
        saved: Whether the checkpoint has it; None if unknown.
    """

    kind: str
    name: str
    step: int
    message: str
    saved: bool | None = None


class First(Struct, frozen=True):
    """The first difference of parameters.

    Attributes:
        step: Counted from 0.
        parameter: How the code reaches it.
    """

    step: int
    parameter: str


class Comparison(Struct, frozen=True):
    """The result of comparing a whole run with a resumed one.

    Attributes:
        findings: What was not restored and made a difference.
        harmless: What was not restored and made no difference.
        first: The first step after which a parameter differs.
    """

    findings: tuple[Finding, ...] = ()
    harmless: tuple[Finding, ...] = ()
    first: First | None = None


def compare(whole: Course, half: Course, rest: Course, saved: Mapping[str, Any]) -> Comparison:
    """Find what the second half of a training did not get back.

    Args:
        whole: The uninterrupted run.
        half: The first half, which begins as ``whole`` does.
        rest: The second half.
        saved: The checkpoint between them.
    """
    at = len(half.after)
    apart = _first_difference(whole.after, half.after, 0)
    if apart:
        message = (
            "does not repeat: two runs from the same start differ before anything was saved;"
            " make it repeat first, as by `with its.deterministic(42):`"
        )
        return Comparison((Finding("train", "train", apart.step, message),), (), apart)
    first = _first_difference(whole.after[at:], rest.after, at)
    pairs = list(zip(whole.looks[at:], rest.looks, strict=False))
    kept = Saved(saved)
    matters: list[Finding] = []
    harmless: list[Finding] = []
    for offset, (was, now) in enumerate(pairs):
        found = _differences(was, now, at + offset, whole, kept)
        if offset:
            parted = first is not None and first.step < at + offset
            found = [_later(each) for each in found if each.kind in _PASSING or not parted]
        serious = [each for each in found if _matters(each, first, pairs, whole)]
        harmless += [each for each in found if not offset and each not in serious]
        matters += serious
        if matters:
            break
    if first and not matters:
        message = (
            "differs although everything that was compared came back; does the step itself repeat?"
            " `with its.deterministic(42):` around both shows that"
        )
        matters = [Finding("train", "train", first.step, message)]
    return Comparison(tuple(matters), tuple(harmless), first)


_LOST = "did not come back"

# Two values that together have more characters are not shown.
_LONG = 40

# Kinds of findings that matter only by their effect on the training.
_PASSING = frozenset({"source", "generator", "loader", "worker", "data"})


def _first_difference(
    was: list[dict[str, Leaf]], now: list[dict[str, Leaf]], begin: int
) -> First | None:
    for step, (one, other) in enumerate(zip(was, now, strict=False)):
        for name, leaf in one.items():
            if other.get(name) != leaf:
                return First(begin + step, name)
    return None


def _matters(
    finding: Finding, first: First | None, pairs: list[tuple[Look, Look]], whole: Course
) -> bool:
    """Return whether a difference affects parameters or remains at the end."""
    if finding.kind not in _PASSING:
        components = [look.components.get(finding.name) for look in pairs[-1]]
        leaves = [None if component is None else component.leaves for component in components]
        return first is not None or leaves[0] != leaves[1]
    drawn = True
    if finding.kind == "source":
        drawn = finding.name in whole.drawn.union(*(look.drawn for look in whole.looks[1:]))
    if finding.kind == "generator" and len(whole.looks) > 1:
        drawn = len({look.generators.get(finding.name) for look in whole.looks}) > 1
    return first is not None and drawn


# Draws that may be stepped over to find the position of a source: about 6 ms.
_STEPPED = 2_000_000


def _later(finding: Finding) -> Finding:
    """Reword a finding on something that was restored and differs only later."""
    return replace(finding, message=finding.message.replace(_LOST, "differs from here on", 1))


def _differences(was: Look, now: Look, step: int, whole: Course, saved: Saved) -> list[Finding]:
    batches = [[batch.digest for batch in look.batches[-1:]] for look in (was, now)]
    same_data = was.data == now.data and batches[0] == batches[1]
    found: list[Finding] = []
    for name, component in was.components.items():
        other = now.components.get(name)
        if other is None or other.leaves == component.leaves:
            continue
        if component.variable and not same_data:
            made = re.split(r"[.[]", name)[0] in now.made
            if made or any(leaf.shape is not None for leaf in [component.leaves.get("")] if leaf):
                continue  # caused by a different batch
        found += _of_component(name, component, other, step, saved)
    for kind, before, after in (
        ("source", was.sources, now.sources),
        ("generator", was.generators, now.generators),
    ):
        for name, state in before.items():
            if name in after and after[name] != state:
                told = _of_state(kind, name, state, after[name], saved)
                found.append(Finding(kind, name, step, *told))
    if not same_data:
        found += _of_data(was, now, step, whole, bool(found))
    return found


def _of_component(
    name: str, was: Component, now: Component, step: int, saved: Saved
) -> Iterator[Finding]:
    """Yield the findings on a component: dtypes, buffers, and its other leaves."""
    pairs = {each: (was.leaves.get(each), now.leaves.get(each)) for each in was.leaves | now.leaves}
    moved = {each: (one, other) for each, (one, other) in pairs.items() if one != other}
    types = [
        each
        for each, (one, other) in moved.items()
        if one and other and one.shape is not None and one.type != other.type
    ]
    if types:
        one = types[0]
        more = f" ({len(types)} tensors)" if len(types) > 1 else ""
        message = f"{one} was {was.leaves[one].type}, came back as {now.leaves[one].type}{more}"
        yield Finding("dtype", name, step, message)
    rest = [each for each in moved if each not in types]
    for kind, part in (
        (was.kind, [each for each in rest if each not in was.buffers]),
        ("buffer", [each for each in rest if each in was.buffers]),
    ):
        if part:
            message = _say(kind, part, was, now)
            yield Finding(kind, name, step, message, saved.has(name, was, part))


def _say(kind: str, part: list[str], was: Component, now: Component) -> str:
    """Describe which leaves of a component differ."""
    lost = [each for each in part if each not in now.leaves]
    if lost and len(lost) == len(part):
        return f"{_LOST}: {first_of(lost, 1)} missing"
    if kind in ("model", "buffer"):
        noun = "parameters" if kind == "model" else "buffers"
        total = sum((each in was.buffers) == (kind == "buffer") for each in was.leaves)
        return f"{_LOST}: {len(part)} of {total} {noun} differ, the first {part[0]}"
    pairs = [(each, was.leaves.get(each), now.leaves.get(each)) for each in part]
    told = [
        f"{each} {one.content} → {other.content}"
        for each, one, other in pairs
        if one and other and one.shape is None and len(one.content + other.content) < _LONG
    ]
    return f"{_LOST}: {', '.join(told[:2]) or first_of(part, 1) + ' differ'}" + (
        f" and {len(part) - 2} more" if told and len(part) > 2 else ""  # noqa: PLR2004
    )


def _of_state(
    kind: str, name: str, was: bytes, now: bytes, saved: Saved
) -> tuple[str, bool | None]:
    """Return the message on a source's or generator's state, and whether it was saved."""
    row = {source.name: source for source in sources()}.get(name)
    message = _LOST
    with suppress(TooFar), within(Effort(_STEPPED)):
        places = [Position() if row is None else locate(row, state) for state in (was, now)]
        if None not in (places[0].draws, places[1].draws):
            message += f": was at {places[0]}, now at {places[1]}"
    if saved.has_state(was):
        return message, True
    given = f"{name}={name}" if name.isidentifier() else "..."
    return f"{message}; its.RandomState({given if kind == 'generator' else ''}) keeps it", None


def _of_data(
    was: Look,
    now: Look,
    step: int,
    whole: Course,
    others: bool,  # noqa: FBT001
) -> Iterator[Finding]:
    """Yield the finding on the data of a step: another position, order or content."""
    expected, got = (look.batches[-1] if look.batches else None for look in (was, now))
    if expected is None or got is None or expected.digest == got.digest:
        if others:
            return  # caused by them
        earlier = [at for at, look in enumerate(whole.looks) if look.data == now.data]
        what = f"the data of step {earlier[0]}" if earlier else "other data than uninterrupted"
        yield Finding("data", "data", step, f"step {step} is given {what}")
    elif not expected.indices or expected.indices != got.indices:
        yield Finding("loader", "loader", step, _say_place(step, expected, got, whole))
    elif got.workers:
        message = (
            f"made another batch of the same items: random numbers drawn in its {got.workers}"
            f" worker process{'es' if got.workers > 1 else ''} are not those of the uninterrupted"
            " run; resume where an epoch begins, or derive them from epoch and item"
        )
        yield Finding("worker", "loader", step, message)
    elif not others:
        message = "made another batch of the same items, by random numbers of unknown origin"
        yield Finding("data", "loader", step, message)


def _say_place(step: int, expected: Batch, got: Batch, whole: Course) -> str:
    """Describe the batch that a loader gave, and the one that it should give."""
    batches = [(at, batch) for at, look in enumerate(whole.looks) for batch in look.batches]
    what = "indices" if got.indices else "digest"
    same = [(at, batch) for at, batch in batches if getattr(batch, what) == getattr(got, what)]
    if expected.said != got.said:
        return (
            f"its sampler is in epoch {got.said}, not {expected.said}: another order of the data;"
            " call sampler.set_epoch(epoch) with the epoch that was saved"
        )
    if same:  # if several epochs have the same order, the epoch of the sampler
        at, batch = min(same, key=lambda pair: pair[1].epoch != expected.epoch)
        if batch.number == 0 and expected.number != 0 and batch.epoch == expected.epoch:
            return (
                f"started its epoch over: step {step} got batch 0 of it, not batch"
                f" {expected.number}; skip the {expected.number} that were used"
            )
        places = [f" (epoch {each.epoch}, batch {each.number})" for each in (batch, expected)]
        one, other = places if places[0] != places[1] else ("", "")  # a loader made again
        return f"step {step} is given the batch of step {at}{one}, not its own{other}"
    return (
        f"step {step} is given items in an order that no step had uninterrupted: what shuffles them"
        " drew other numbers"
    )
