"""``check_resume``: compares an uninterrupted training run with a resumed one."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
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
from ipytorchseed.render.values import pick, write_json
from ipytorchseed.render.view import View
from ipytorchseed.resume.checkpoint import Checkpoint
from ipytorchseed.resume.comparing import Compared, compare
from ipytorchseed.resume.watching import Course, follow
from ipytorchseed.rng.table import hints_kept, seed_all

_AS = "as it would without interruption:"


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

    def __init__(self, compared: Compared, steps: int, at: int, notes: list[str]) -> None:
        self.findings, self.harmless, self.first = compared
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
            return f"It is unknown whether training {run} continues {_AS}"
        return f"Training {run} does not continue {_AS}"

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
        told["first_difference"] = self.first
        return write_json(**msgspec.to_builtins(told))


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
    the checkpoint of the second run. It runs a fourth time if it takes ``steps`` as the total
    number of steps, including those before the checkpoint. Each run starts with the same flags,
    environment variables and objects outside ``train``. A resumed run starts with other random
    states, like a new process. The inputs and results of each step are compared bit for bit.
    Afterwards, everything is restored.

    Args:
        train: Called as ``train(state, steps)``, where ``state`` is the checkpoint, a mapping. The
            function creates the model and the optimizer, loads them from ``state``, takes ``steps``
            optimizer steps, and stores them in ``state``. It may also take ``steps`` as the
            total number of steps. Assigning an object that has ``state_dict`` and
            ``load_state_dict``, as in ``state["model"] = model``, also loads it from the
            checkpoint, if there is one.
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

        def play(name: str, count: int, held: Any = None) -> tuple[Course, dict[str, Any]]:
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
        compared = compare(whole, half, rests[-1], saved)
    notes = [f"After the runs, {say_restored('everything is', stays)}."] if stays else []
    report = ResumeReport(compared, steps, at, notes)
    if check and not report.ok:
        raise ResumeDiffers(report.text())
    return report


def _refuse(train: object, steps: object, at: object) -> None:
    """Raise an error for invalid arguments of ``check_resume``."""
    if not callable(train):
        raise ResumeError(f"check_resume takes a function train(state, steps), not {train!r}")
    if type(steps) is not int or type(at) is not int or not 0 < at < steps:
        msg = f"at must be an integer with 0 < at < steps, not at={at!r}, steps={steps!r}"
        raise ResumeError(msg)
