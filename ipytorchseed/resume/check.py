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
        ok: Whether training continues as if it had not been interrupted.
        findings: What was not restored and had an effect.
        harmless: What was not restored and had no effect in these steps.
        first: The first step after which a parameter differs, and which; None if none does.
        steps: The steps of the whole run.
        at: The number of steps after which it was saved.
        notes: Further remarks, a sentence each.
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
        """Further remarks, a sentence each."""
        said = []
        if self.first:
            said.append(f"First difference: {self.first.parameter}, after step {self.first.step}.")
        if self.harmless:
            names = ", ".join(dict.fromkeys(each.name for each in self.harmless))
            said.append(f"Not restored, without effect in these steps: {names}.")
        return said + self.notes

    def text(self) -> str:
        """Draw it for a terminal of 80 columns."""
        lines = [wrap(self.headline, first="")]
        lines += [wrap(visible(sentence(each)), first="  ▲ ") for each in self.findings]
        return "\n".join(lines + [wrap(visible(each), first="") for each in self.remarks])

    def html(self) -> str:
        """Draw it for a notebook, without script."""
        told = [sentence(each) for each in self.findings]
        return fill("resume", headline=self.headline, findings=told, remarks=self.remarks)

    def to_json(self) -> str:
        """Write it as one line of JSON."""
        told = pick(self, "ok", "steps", "at", "findings", "harmless", "notes")
        told |= {"schema": 1, "first_difference": self.first}
        return json.dumps(msgspec.to_builtins(told))


def sentence(finding: Finding) -> str:
    """Write a finding as a sentence."""
    kind = "" if finding.name in (finding.kind, "train") else f" ({finding.kind})"
    saved = {
        True: "; the checkpoint has it, and it was not restored",
        False: "; it is not in the checkpoint",
        None: "",
    }[finding.saved]
    return f"{finding.name}{kind}: {finding.message}{saved}"


# The seed of the resumed run: an unusual one, as a new process would start anywhere.
_ELSEWHERE = 2_463_534_242


def check_resume(
    train: Callable[[Checkpoint, int], object],
    steps: int = 20,
    at: int = 10,
    *,
    check: bool = False,
) -> ResumeReport:
    """Find what is not restored when training resumes from a checkpoint.

    ``train`` runs three times: to the end, for its first ``at`` steps, and from the checkpoint
    saved then to the end. Each run starts with the same flags, environment and objects outside of
    ``train``. The last one starts with other random states, as a new process would. The inputs and
    results of each step are compared bit for bit. Everything is restored afterwards.

    Args:
        train: Called as ``train(state, steps)``. It creates model and optimizer, loads the
            content of ``state``, takes ``steps`` steps of the optimizer (a loop up to ``steps``
            works as well), and puts the content of the checkpoint into ``state``, a mapping. An
            object with ``state_dict`` and ``load_state_dict`` that is assigned to ``state`` is
            loaded at once.
        steps: The steps of the whole run.
        at: The step after which it is saved, from 1 to ``steps - 1``.
        check: Raise if something is not restored.

    Returns:
        A report that prints itself; ``ok``, ``findings`` and ``to_json()`` are for programs.

    Raises:
        ResumeError: ``train`` cannot be called like this, takes no step, or fails to resume.
        ResumeDiffers: With ``check``, something was not restored.
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
                seed_all(_ELSEWHERE)
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
            held = torch.load(file, weights_only=False)  # written by us, a moment ago
            shutil.rmtree(folder / "halves")  # as the first half left it, also for a second try
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
    """Run the second half.

    ``train`` may take a number of steps, or go up to a step.
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
    """Refuse invalid arguments of ``check_resume``."""
    if not callable(train):
        raise ResumeError(f"check_resume takes a function train(state, steps), not {train!r}")
    whole = [type(each) is int for each in (steps, at)]
    if not all(whole) or not 0 < at < steps:  # type: ignore[operator]  # both are integers
        raise ResumeError(
            f"at must be an integer with 0 < at < steps, not at={at!r}, steps={steps!r}"
        )


def _uneven(whole: Course, half: Course, rest: Course) -> Comparison:
    """Return the finding that the halves together have a different number of steps."""
    counts = [len(each.after) for each in (half, rest, whole)]
    message = (
        f"took {counts[0]} steps in the first half and {counts[1]} in the second, but"
        f" {counts[2]} uninterrupted: the number of steps done was not restored"
    )
    return Comparison((Finding("steps", "train", len(half.after), message),))
