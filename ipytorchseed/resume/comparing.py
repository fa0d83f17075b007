"""Compares an uninterrupted training run with a resumed one."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.resume.checkpoint import Leaves, Saved
from ipytorchseed.resume.watching import Course, Look
from ipytorchseed.rng.position import Effort, TooFar, within
from ipytorchseed.rng.table import locate, sources
from ipytorchseed.why.words import first_of


class Finding(Struct, frozen=True):
    """Something that was not restored in a resumed run.

    Attributes:
        kind: ``source``, ``generator``, ``model``, ``optimizer``, ``scheduler``, ``scaler``,
            ``state``, ``loader`` or ``data``. For the run itself, ``train`` (it does not repeat) or
            ``steps`` (the numbers of steps differ).
        name: The expression by which the code reaches the object: ``trainer.model``.
        step: The step before which the difference was seen, from 0.
        message: A clause that says what differs.
        saved: Whether the checkpoint contains it; None if unknown.
    """

    kind: str
    name: str
    step: int
    message: str
    saved: bool | None = None

    @property
    def sentence(self) -> str:
        """The finding as a sentence."""
        kind = "" if self.name in (self.kind, "train") else f" ({self.kind})"
        return f"{self.name}{kind}: {self.message}{_SAVED[self.saved]}"


_SAVED = {
    True: "; the checkpoint has it, but it was not restored",
    False: "; it is not in the checkpoint",
    None: "",
}


class First(Struct, frozen=True):
    """The first step after which a parameter differs.

    Attributes:
        step: The step, from 0.
        parameter: The expression by which the code reaches the parameter.
    """

    step: int
    parameter: str


# What was not restored and affected the run, what was not restored but did not affect it, and the
# first step after which a parameter differs.
Compared = tuple[list[Finding], list[Finding], First | None]


def compare(whole: Course, half: Course, rest: Course, saved: dict[str, Any]) -> Compared:
    """Find what was not restored in the second half of a run.

    Args:
        whole: The uninterrupted run.
        half: The first half, from the same initial state.
        rest: The second half.
        saved: The checkpoint that the first half saved.
    """
    at, left, steps = (len(each.after) for each in (half, rest, whole))
    if not left or at + left != steps:
        message = (
            f"took {at} steps in the first half and {left} in the second, but {steps}"
            " uninterrupted: the number of steps done was not restored"
        )
        return [Finding("steps", "train", at, message)], [], None
    apart = _first_difference(whole.after, half.after, 0)
    if apart:
        message = (
            "does not repeat: two runs from the same state differ before anything is saved;"
            " make it repeat first, for example by `with its.deterministic(42):`"
        )
        return [Finding("train", "train", apart.step, message)], [], apart
    first = _first_difference(whole.after[at:], rest.after, at)
    pairs = list(zip(whole.looks[at:], rest.looks, strict=False))
    kept, matters, harmless = Saved(saved), list[Finding](), list[Finding]()
    for offset, (was, now) in enumerate(pairs):
        found = _differences(was, now, at + offset, whole, kept)
        if offset:
            parted = first is not None and first.step < at + offset
            found = [_as_later(each) for each in found if each.kind in _PASSING or not parted]
        serious = [each for each in found if _matters(each, first, pairs, whole)]
        harmless += [each for each in found if not offset and each not in serious]
        matters += serious
        if matters:
            break
    if first and not matters:
        message = (
            "differs although everything that was compared was restored; the step itself may not"
            " repeat: run both under `with its.deterministic(42):`"
        )
        matters = [Finding("train", "train", first.step, message)]
    return matters, harmless, first


_LOST = "was not restored"

# Old and new value are shown if they have fewer characters than this in total.
_LONG = 40

# Kinds of findings that matter only if they change a parameter.
_PASSING = frozenset({"source", "generator", "loader", "data"})


def _as_later(finding: Finding) -> Finding:
    """Return a finding about something that was restored at first."""
    return replace(finding, message=finding.message.replace(_LOST, "differs from here on", 1))


def _first_difference(was: list[Leaves], now: list[Leaves], begin: int) -> First | None:
    for step, (one, other) in enumerate(zip(was, now, strict=False), begin):
        for name, leaf in one.items():
            if other.get(name) != leaf:
                return First(step, name)
    return None


def _matters(
    finding: Finding, first: First | None, pairs: list[tuple[Look, Look]], whole: Course
) -> bool:
    """Return whether a difference affects parameters, or persists to the last step."""
    if finding.kind not in _PASSING:
        was, now = (look.components.get(finding.name) for look in pairs[-1])
        return first is not None or was != now
    states = {look.states.get(finding.name) for look in whole.looks}
    return first is not None and (finding.kind in {"loader", "data"} or len(states) > 1)


# The maximum number of draws to search for the position of a source, which takes about 6 ms.
_STEPPED = 2_000_000


def _differences(was: Look, now: Look, step: int, whole: Course, saved: Saved) -> list[Finding]:
    found: list[Finding] = []
    digests = [look.batch and look.batch.digest for look in (was, now)]
    same_data = was.data == now.data and digests[0] == digests[1]
    for name, component in was.components.items():
        other = now.components.get(name)
        if other is None or other.leaves == component.leaves:
            continue
        if component.variable and not same_data:
            continue  # the different batch may explain it
        before, after = component.leaves, other.leaves
        moved = [each for each in before | after if before.get(each) != after.get(each)]
        message = f"{_LOST}: {_describe(moved, before, after)}"
        has = saved.has(name, {each: before[each] for each in moved if each in before})
        found.append(Finding(component.kind, name, step, message, has))
    for name, state in was.states.items():
        if now.states.get(name, state) != state:
            found.append(_of_state(name, step, state, now.states[name], saved))
    if not same_data:
        kind, message, explained = _of_data(was, now, step, whole)
        if not (explained and found):
            found.append(Finding(kind, kind, step, message))
    return found


def _describe(moved: list[str], was: Leaves, now: Leaves) -> str:
    """Describe which leaves of a component differ, starting with short values."""
    told, others = [], []
    for each in moved:
        one, other = was.get(each), now.get(each)
        if one is None or other is None:
            told.append(f"{each} {'is new' if one is None else 'is missing'}")
        elif one.type != other.type:
            told.append(f"{each} {one.type} → {other.type}")
        elif one.shape is None and len(one.content + other.content) < _LONG:
            told.append(f"{each} {one.content} → {other.content}")
        else:
            others.append(f"{each} differs")
    if told:
        return first_of(told + others, 2)
    return f"{len(moved)} of {len(was)} tensors differ, the first {moved[0]}"


def _of_state(name: str, step: int, was: bytes, now: bytes, saved: Saved) -> Finding:
    """Return the finding about the state of a source or generator.

    Args:
        name: The source or generator.
        step: The step.
        was: The state in the uninterrupted run.
        now: The state in the resumed run.
        saved: The checkpoint.
    """
    rows, message = [source for source in sources() if source.name == name], _LOST
    with suppress(TooFar), within(Effort(_STEPPED)):
        places = [locate(row, state) for row in rows for state in (was, now)]
        if places and None not in (places[0].draws, places[1].draws):
            message += f": was at {places[0]}, now at {places[1]}"
    kind, given = ("source", "") if rows else ("generator", "...")
    if not rows and name.isidentifier():
        given = f"{name}={name}"
    if saved.has_state(was):
        return Finding(kind, name, step, message, saved=True)
    return Finding(kind, name, step, f"{message}; its.RandomState({given}) restores it")


def _of_data(was: Look, now: Look, step: int, whole: Course) -> tuple[str, str, bool]:
    """Return the kind and message about the data of a step.

    Return also whether differences of other states explain it.
    """
    expected, got = was.batch, now.batch
    if expected is None or got is None or expected.digest == got.digest:
        same = [at for at, look in enumerate(whole.looks) if look.data == now.data]
        what = f"the data of step {same[0]}" if same else "data that no uninterrupted step got"
        return "data", f"step {step} gets {what}", True
    if expected.items == got.items != "":
        message = (
            f"step {step} gets a different batch of the same items: the random numbers drawn for"
            " it, for example in worker processes, differ from those of the uninterrupted run"
        )
        return "loader", message, True
    batches = [(at, look.batch) for at, look in enumerate(whole.looks) if look.batch]
    same = [at for at, each in batches if each == got or each.items == got.items != ""]
    what = f"the batch of step {same[0]}" if same else "a batch that no uninterrupted step got"
    return "loader", f"step {step} gets {what}, not its own: {_SKIP}", False


# Advice for a resumed loop that does not continue with the right batch.
_SKIP = "restore what shuffles, set the epoch of its sampler, and skip the batches that were used"
