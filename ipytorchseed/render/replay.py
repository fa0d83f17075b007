"""``%replay`` as text and HTML: its steps and their results."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ipytorchseed.ledger.records import Run
from ipytorchseed.render.labels import label_of
from ipytorchseed.render.text import visible, wrap
from ipytorchseed.render.view import TableView, View
from ipytorchseed.render.why import WhyView, say_timed
from ipytorchseed.why.evidence import run_name, run_phrase
from ipytorchseed.why.explanation import Cause, Explanation, Remedy, suspect
from ipytorchseed.why.plan import Plan
from ipytorchseed.why.words import first_of, sentence

# The width of a cell's label in columns of a terminal.
_LABEL = 36

# The maximum number of variables that a title names.
_TOLD = 3


class PlanView(TableView):
    """The steps of a replay.

    Args:
        plan: A plan with at least one step.
        kernel: The id of the current kernel.
    """

    columns = (("Run", "whole"), ("Cell", "whole code"), ("For", ""), ("Took", "whole"))

    def __init__(self, plan: Plan, kernel: str) -> None:
        self.title = f"To bring {_result_of(plan.target, kernel)} back, run again:"
        self.rows = []
        for step in plan.steps:
            cell = run_name(step.run, kernel), label_of(step.run.source, _LABEL)
            took = f"{step.run.seconds:,.1f} s" if step.run.seconds >= 1 else ""
            self.rows.append((*cell, ", ".join(step.makes) or "the result", took))
        outside = say_outside(plan, kernel)
        self.remarks = [
            "Each cell starts with the sources, generators and flags of its earlier run.",
            *(f"It may still differ: {doubt}." for doubt in plan.doubts),
            *([f"{outside}: add --yes to run that again."] if outside else []),
        ]


class ReplayView(View):
    """The result of a replay.

    Args:
        said: The comparison of the new run with the run whose result was wanted.
        plan: The steps that ran.
        kernel: The id of the current kernel.
        stays: What an undo does not restore: files, and objects that could not be copied.
        causes: The causes of the cell's different result, if the replay restored all of them.

    Attributes:
        explanation: The comparison, without a remedy.
        same: Whether the result is known to be the earlier one, bit for bit.
        title: The answer in a sentence.
        remarks: Further sentences: the cells that ran, doubts, the cause, and how to undo.
        why: The view of what still differs, and why; None if the result is the same.
    """

    template = "replayed"

    def __init__(
        self, said: Explanation, plan: Plan, kernel: str, stays: Sequence[str] = (), *causes: Cause
    ) -> None:
        self.explanation = replace(said, remedy=Remedy())
        self.same = said.verdict == "same"
        self.why = None if self.same else WhyView(self.explanation, kernel)
        run, changed, shown = said.run, said.changed, said.run.outputs
        old, then = _result_of(plan.target, kernel), run_phrase(plan.target, kernel)
        new = "The new run" if run.execution_count is None else run_phrase(run, kernel)
        shows = shown.result is not None or shown.stdout is not None or shown.displays
        self.title = f"▲ {new} is not {old}."
        if self.same:
            self.title = f"✓ {new} is {old} again, bit for bit{say_timed(run)}."
        elif not changed:
            but = "but some of it could not be compared"
            self.title = f"▲ {new} shows no difference from {old}, {but}."
        elif shows and all(each.what == "variable" for each in changed):
            names = first_of([f"`{each.name}`" for each in changed], _TOLD, " and ")
            self.title = f"▲ {new} has the same output as {then}, but another value of {names}."
        before = ", ".join(run_phrase(step.run, kernel) for step in plan.steps[:-1])
        self.remarks = [f"Run again before it: {before}."] if before else []
        if not self.same:
            self.remarks += map(sentence, plan.doubts)
        elif causes:
            several, names = "s, together" * (len(causes) > 1), ", ".join(map(suspect, causes))
            self.remarks.append(f"This proves the cause{several}: {names}.")
        but = f" That does not restore {', '.join(stays)}." if stays else ""
        self.remarks.append(visible(f"To undo it: %replay --undo.{but}"))

    def text(self) -> str:
        """Return the view as text for a terminal of 80 columns."""
        parts = [wrap(self.title, first=""), wrap(" ".join(self.remarks), first="")]
        return "\n".join([*parts, *(["", self.why.text()] if self.why is not None else [])])


def _result_of(run: Run, kernel: str) -> str:
    """Return the words for a run's result: ``In[5]'s result``."""
    name = run_phrase(run, kernel)
    return f"{name}'s result" if " " not in name else f"the result of {name}"


def say_outside(plan: Plan, kernel: str) -> str:
    """Name the cells of a plan that write files, start programs or connect."""
    outside = [step for step in plan.steps if step.outside]
    told = (f"{run_phrase(step.run, kernel)} {', '.join(step.outside)}" for step in outside)
    return visible("; ".join(told))
