"""``check_resume``: compares an uninterrupted training run with a resumed one."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.determinism.interrupts import held_interrupts
from ipytorchseed.errors import ResumeDiffers, ResumeError
from ipytorchseed.experiment.engine import NAME, SHELLS, Engine, called_by_name
from ipytorchseed.experiment.imports import find_reached
from ipytorchseed.experiment.process import say_restored
from ipytorchseed.render.text import visible, wrap
from ipytorchseed.render.values import pick
from ipytorchseed.render.view import View
from ipytorchseed.resume.watching import Checkpoint, Course, Leaf, Look, Saved, follow
from ipytorchseed.rng.position import Effort, Position, TooFar, within
from ipytorchseed.rng.table import hints_kept, locate, seed_all, sources
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
    True: "; the checkpoint has it, and it was not restored",
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


class Comparison(Struct, frozen=True):
    """The result of comparing an uninterrupted run with a resumed one.

    Attributes:
        findings: What was not restored and affected the run.
        harmless: What was not restored but did not affect the run.
        first: The first step after which a parameter differs, with the parameter, or None.
    """

    findings: tuple[Finding, ...] = ()
    harmless: tuple[Finding, ...] = ()
    first: First | None = None


def compare(whole: Course, half: Course, rest: Course, saved: Mapping[str, Any]) -> Comparison:
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
        return Comparison((Finding("steps", "train", at, message),))
    apart = _first_difference(whole.after, half.after, 0)
    if apart:
        message = (
            "does not repeat: two runs from the same state differ before anything is saved;"
            " make it repeat first, for example by `with its.deterministic(42):`"
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
            later = "differs from here on"  # it was restored at first
            found = [
                replace(each, message=each.message.replace(_LOST, later, 1))
                for each in found
                if each.kind in _PASSING or not parted
            ]
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
    return Comparison(tuple(matters), tuple(harmless), first)


_LOST = "was not restored"

# Old and new value are shown if they have fewer characters than this in total.
_LONG = 40

# Kinds of findings that matter only if they change a parameter.
_PASSING = frozenset({"source", "generator", "loader", "data"})


def _first_difference(
    was: list[dict[str, Leaf]], now: list[dict[str, Leaf]], begin: int
) -> First | None:
    steps = enumerate(zip(was, now, strict=False), begin)
    differ = (
        First(step, name)
        for step, (one, other) in steps
        for name, leaf in one.items()
        if other.get(name) != leaf
    )
    return next(differ, None)


def _matters(
    finding: Finding, first: First | None, pairs: list[tuple[Look, Look]], whole: Course
) -> bool:
    """Return whether a difference affects parameters, or persists to the last step."""
    if finding.kind not in _PASSING:
        was, now = (look.components.get(finding.name) for look in pairs[-1])
        return first is not None or was != now
    if finding.kind in {"loader", "data"}:
        return first is not None
    states = {(look.sources | look.generators).get(finding.name) for look in whole.looks}
    return first is not None and len(states) > 1


# The maximum number of draws to search for the position of a source, which takes about 6 ms.
_STEPPED = 2_000_000


def _differences(was: Look, now: Look, step: int, whole: Course, saved: Saved) -> list[Finding]:
    found: list[Finding] = []
    batches = [look.batch and look.batch.digest for look in (was, now)]
    same_data = was.data == now.data and batches[0] == batches[1]
    for name, component in was.components.items():
        other = now.components.get(name)
        if other is None or other.leaves == component.leaves:
            continue
        if component.variable and not same_data:
            whole_value = component.leaves.get("")
            if re.split(r"[.[]", name)[0] in now.made or (
                whole_value is not None and whole_value.shape is not None
            ):
                continue  # the different batch explains it
        before, after = component.leaves, other.leaves
        moved = [each for each in before | after if before.get(each) != after.get(each)]
        message = f"{_LOST}: {_describe(moved, before, after)}"
        has = saved.has(name, component, moved)
        found.append(Finding(component.kind, name, step, message, has))
    states = now.sources | now.generators
    for name, state in (was.sources | was.generators).items():
        if states.get(name, state) != state:
            kind = "source" if name in was.sources else "generator"
            told = _of_state(kind, name, state, states[name], saved)
            found.append(Finding(kind, name, step, *told))
    if not same_data:
        kind, message, explained = _of_data(was, now, step, whole)
        if not (explained and found):
            found.append(Finding(kind, kind, step, message))
    return found


def _describe(moved: list[str], was: dict[str, Leaf], now: dict[str, Leaf]) -> str:
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


def _of_state(
    kind: str, name: str, was: bytes, now: bytes, saved: Saved
) -> tuple[str, bool | None]:
    """Return the message about the state of a source or generator.

    Args:
        kind: ``source`` or ``generator``.
        name: The source or generator.
        was: The state in the uninterrupted run.
        now: The state in the resumed run.
        saved: The checkpoint.

    Returns:
        The message, and True if the checkpoint contains the state, or None if that is unknown.
    """
    row = {source.name: source for source in sources()}.get(name)
    message = _LOST
    with suppress(TooFar), within(Effort(_STEPPED)):
        places = [Position() if row is None else locate(row, state) for state in (was, now)]
        if None not in (places[0].draws, places[1].draws):
            message += f": was at {places[0]}, now at {places[1]}"
    if saved.has_state(was):
        return message, True
    given = f"{name}={name}" if name.isidentifier() else "..."
    return f"{message}; its.RandomState({given if kind == 'generator' else ''}) restores it", None


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


class ResumeReport(View):
    """The result of ``check_resume``.

    Attributes:
        ok: Whether the resumed run equals the uninterrupted run.
        findings: What was not restored and affected the run.
        harmless: What was not restored but did not affect the run in these steps.
        first: The first step after which a parameter differs, and the parameter's name; None if no
            parameter differs.
        steps: The number of steps of the uninterrupted run.
        at: The number of steps after which the checkpoint was saved.
        notes: Further remarks, each as a sentence.
    """

    template = "resume"

    def __init__(self, comparison: Comparison, steps: int, at: int, notes: list[str]) -> None:
        self.findings, self.harmless, self.first = msgspec.structs.astuple(comparison)
        self.ok = not (self.findings or self.first)
        self.steps = steps
        self.at = at
        self.notes = notes

    @property
    def headline(self) -> str:
        """The answer in a sentence."""
        run = f"resumed after {self.at} of {self.steps} steps"
        if self.ok:
            return f"Training {run} continues bit for bit as if it had not stopped."
        if self.findings and self.findings[0].kind == "train":
            return (
                f"It is unknown whether training {run} continues as it would without interruption:"
            )
        return f"Training {run} does not continue as it would without interruption:"

    @property
    def remarks(self) -> list[str]:
        """The first difference, what had no effect, and notes, each as a sentence."""
        said = []
        if self.first:
            said.append(f"First difference: {self.first.parameter}, after step {self.first.step}.")
        if self.harmless:
            names = ", ".join(dict.fromkeys(each.name for each in self.harmless))
            said.append(f"Not restored, without effect in these steps: {names}.")
        return said + self.notes

    def text(self) -> str:
        """Return the report as text for a terminal of 80 columns."""
        lines = [wrap(self.headline, first="")]
        lines += [wrap(visible(each.sentence), first="  ▲ ") for each in self.findings]
        return "\n".join(lines + [wrap(visible(each), first="") for each in self.remarks])

    def to_json(self) -> str:
        """Return the report as one line of JSON."""
        told = pick(self, "ok", "steps", "at", "findings", "harmless", "notes")
        told |= {"schema": 1, "first_difference": self.first}
        return json.dumps(msgspec.to_builtins(told))


# The seed of the resumed run. It is an unusual seed, because a new process has other states.
_RESUME_SEED = 2_463_534_242


def check_resume(
    train: Callable[[Checkpoint, int], object],
    steps: int = 20,
    at: int = 10,
    *,
    check: bool = False,
) -> ResumeReport:
    """Find what is not restored when training resumes from a checkpoint.

    ``train`` runs three times: for all steps, for the first ``at`` steps, and for the rest, from
    the checkpoint of the second run. It runs a fourth time if it counts ``steps`` from the start of
    the training. Each run starts with the same flags, environment variables and objects outside
    ``train``. A resumed run starts with other random states, like a new process. The inputs and
    results of each step are compared bit for bit. Afterwards, everything is restored.

    Args:
        train: Called as ``train(state, steps)``, where ``state`` is the checkpoint, a mapping. The
            function creates the model and the optimizer, loads them from ``state``, takes ``steps``
            optimizer steps, and stores them in ``state``. It may also count ``steps`` from the
            start of the training. An object with ``state_dict`` and ``load_state_dict`` is loaded
            when it is assigned: ``state["model"] = model``.
        steps: The number of steps of the uninterrupted run.
        at: The number of steps before the checkpoint, from 1 to ``steps - 1``.
        check: Whether to raise an error if something is not restored.

    Returns:
        A report. It prints itself; programs can use ``ok``, ``findings`` and ``to_json()``.

    Raises:
        ResumeError: ``train`` cannot be called with these arguments, takes no step, or fails to
            resume.
        ResumeDiffers: With ``check``: something was not restored.
    """
    _refuse(train, steps, at)
    import torch

    stays: list[str] = []
    with held_interrupts(), ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="resume-")))
        stack.enter_context(hints_kept())
        names = stack.enter_context(called_by_name(train))
        reached = find_reached(f"{NAME}()", str, names, SHELLS)
        engine = Engine.of_code(names, reached, SHELLS)
        stack.callback(lambda: stays.extend(engine.leave()))

        def play(
            name: str, count: int, held: Mapping[str, Any] | None = None
        ) -> tuple[Course, Any]:
            engine.begin()
            if held is not None:
                seed_all(_RESUME_SEED)
            (folder / name).mkdir(exist_ok=True)
            state = Checkpoint(folder / name, held)
            return follow(names[NAME], state, count), state.to_save()

        whole, _ = play("whole", steps)
        if not whole.after:
            msg = "train took no step with a torch.optim optimizer: there is nothing to compare"
            raise ResumeError(msg)
        half, saved = play("halves", at)
        file = folder / "checkpoint.pt"
        torch.save(saved, file)
        shutil.copytree(folder / "halves", folder / "kept")
        rests, errors = list[Course](), list[Exception]()
        for count in (steps - at, steps):  # the steps to take, or the last step
            held = torch.load(file, weights_only=False)  # safe: we have just written this file
            shutil.rmtree(folder / "halves")  # a first try may have changed it
            shutil.copytree(folder / "kept", folder / "halves")
            try:
                rests.append(play("halves", count, held)[0])
            except Exception as error:  # noqa: BLE001 -- from the user's code
                errors.append(error)
            if rests and len(rests[-1].after) == len(whole.after) - len(half.after):
                break
        if not rests:
            msg = f"train fails when it resumes: {type(errors[0]).__name__}: {errors[0]}"
            raise ResumeError(msg.partition("\n")[0]) from errors[0]
        comparison = compare(whole, half, rests[-1], saved)
    notes = [f"After the runs, {say_restored('everything is', stays)}."] if stays else []
    report = ResumeReport(comparison, steps, at, notes)
    if check and not report.ok:
        raise ResumeDiffers(report.text())
    return report


def _refuse(train: object, steps: object, at: object) -> None:
    """Raise an error for invalid arguments of ``check_resume``."""
    if not callable(train):
        raise ResumeError(f"check_resume takes a function train(state, steps), not {train!r}")
    if type(steps) is not int or type(at) is not int or not 0 < at < steps:
        raise ResumeError(
            f"at must be an integer with 0 < at < steps, not at={at!r}, steps={steps!r}"
        )
