"""``check_resume``: compares an uninterrupted training run with a resumed one."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from ipytorchseed.determinism.interrupts import held_interrupts
from ipytorchseed.errors import ResumeDiffers, ResumeError
from ipytorchseed.experiment.engine import NAME, SHELLS, Engine, called_by_name
from ipytorchseed.experiment.imports import find_reached
from ipytorchseed.experiment.process import say_restored
from ipytorchseed.render.text import visible, wrap
from ipytorchseed.render.values import pick
from ipytorchseed.render.view import View, fill
from ipytorchseed.resume.checkpoint import Checkpoint
from ipytorchseed.resume.comparing import Comparison, Finding, compare
from ipytorchseed.resume.watching import Course, follow
from ipytorchseed.rng.table import hints_kept, seed_all


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

    def __init__(self, comparison: Comparison, steps: int, at: int, notes: list[str]) -> None:
        self.findings = comparison.findings
        self.harmless = comparison.harmless
        self.first = comparison.first
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
            return f"It is unknown whether training {run} continues as if it had not stopped:"
        return f"Training {run} does not continue as if it had not stopped:"

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
        lines += [wrap(visible(sentence(each)), first="  ▲ ") for each in self.findings]
        return "\n".join(lines + [wrap(visible(each), first="") for each in self.remarks])

    def html(self) -> str:
        """Return the report as HTML without scripts."""
        told = [sentence(each) for each in self.findings]
        return fill("resume", headline=self.headline, findings=told, remarks=self.remarks)

    def to_json(self) -> str:
        """Return the report as one line of JSON."""
        told = pick(self, "ok", "steps", "at", "findings", "harmless", "notes")
        told |= {"schema": 1, "first_difference": self.first}
        return json.dumps(msgspec.to_builtins(told))


def sentence(finding: Finding) -> str:
    """Return a finding as a sentence."""
    kind = "" if finding.name in (finding.kind, "train") else f" ({finding.kind})"
    saved = {
        True: "; the checkpoint has it, and it was not restored",
        False: "; it is not in the checkpoint",
        None: "",
    }[finding.saved]
    return f"{finding.name}{kind}: {finding.message}{saved}"


# The seed of the resumed run. It is unlike usual seeds, since a new process has other states.
_RESUME_SEED = 2_463_534_242


def check_resume(
    train: Callable[[Checkpoint, int], object],
    steps: int = 20,
    at: int = 10,
    *,
    check: bool = False,
) -> ResumeReport:
    """Find what is not restored when training resumes from a checkpoint.

    ``train`` runs three times: for all steps, for the first ``at`` steps, and from the checkpoint
    that the second run saved to the end. Each run starts with the same flags, environment variables
    and objects outside of ``train``. The third run starts with other random states, like a new
    process. The inputs and results of each step are compared bit for bit. Afterwards, everything is
    restored.

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

    notes: list[str] = []
    with held_interrupts(), ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="resume-")))
        stack.enter_context(hints_kept())
        names = stack.enter_context(called_by_name(train))
        reached = find_reached(f"{NAME}()", str, names, SHELLS)
        engine = Engine.of_code(names, reached, SHELLS)
        stack.callback(_put_back, engine, notes)

        def play(
            name: str, count: int, held: Mapping[str, Any] | None = None
        ) -> tuple[Course, Any]:
            engine.begin()
            if held is not None:
                seed_all(_RESUME_SEED)
            state = Checkpoint(folder / name, held)
            return follow(names[NAME], state, count), state.to_save()

        for name in ("whole", "halves"):
            (folder / name).mkdir()
        whole, _ = play("whole", steps)
        if not whole.after:
            msg = "train took no step with a torch.optim optimizer: there is nothing to compare"
            raise ResumeError(msg)
        half, saved = play("halves", at)
        file = folder / "checkpoint.pt"
        torch.save(saved, file)
        shutil.copytree(folder / "halves", folder / "kept")

        def go_on(count: int) -> Course:
            held = torch.load(file, weights_only=False)  # safe: we have just written this file
            shutil.rmtree(folder / "halves")  # a first try may have changed it
            shutil.copytree(folder / "kept", folder / "halves")
            try:
                return play("halves", count, held)[0]
            except Exception as error:
                msg = f"train fails when it resumes: {type(error).__name__}: {error}"
                raise ResumeError(msg.partition("\n")[0]) from error

        missing = len(whole.after) - len(half.after)
        rest = _second_half(go_on, (steps - at, steps), missing)
        if 0 < missing == len(rest.after):
            comparison = compare(whole, half, rest, saved)
        else:
            comparison = _uneven(whole, half, rest)
    report = ResumeReport(comparison, steps, at, notes)
    if check and not report.ok:
        raise ResumeDiffers(report.text())
    return report


def _put_back(engine: Engine, notes: list[str]) -> None:
    """Restore everything, and add a note for what could not be restored."""
    stays = engine.leave()
    if stays:
        notes.append(f"After the runs, {say_restored('everything is', stays)}.")


def _second_half(go_on: Callable[[int], Course], counts: tuple[int, int], missing: int) -> Course:
    """Run the second half of the training.

    ``train`` may interpret its argument as the number of steps to take, or as the last step. Both
    are tried.

    Args:
        go_on: Resumes the training, with this argument for ``train``.
        counts: The two arguments to try.
        missing: The number of steps that the second half must have.
    """
    rest = failed = None
    for count in counts:
        try:
            rest = go_on(count)
        except ResumeError as error:
            failed = failed or error
        else:
            if len(rest.after) == missing:
                return rest
    if rest is None:
        raise failed or AssertionError
    return rest


def _refuse(train: object, steps: object, at: object) -> None:
    """Raise an error for invalid arguments of ``check_resume``.

    Raises:
        ResumeError: An argument is invalid.
    """
    if not callable(train):
        raise ResumeError(f"check_resume takes a function train(state, steps), not {train!r}")
    whole = [type(each) is int for each in (steps, at)]
    if not all(whole) or not 0 < at < steps:  # type: ignore[operator]  # both are integers
        raise ResumeError(
            f"at must be an integer with 0 < at < steps, not at={at!r}, steps={steps!r}"
        )


def _uneven(whole: Course, half: Course, rest: Course) -> Comparison:
    """Return the finding that both halves have more or fewer steps than the whole run."""
    counts = [len(each.after) for each in (half, rest, whole)]
    message = (
        f"took {counts[0]} steps in the first half and {counts[1]} in the second, but"
        f" {counts[2]} uninterrupted: the number of steps done was not restored"
    )
    return Comparison((Finding("steps", "train", len(half.after), message),))
