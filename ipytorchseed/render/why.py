"""``%why`` as text, HTML and JSON."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from ipytorchseed.reads.entropy import programs_of, say_programs
from ipytorchseed.render.curves import curves_svg, sparklines
from ipytorchseed.render.html import fill
from ipytorchseed.render.text import visible, wrap
from ipytorchseed.render.timeline import label_of, run_name, states_of
from ipytorchseed.render.view import View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ipytorchseed.ledger.records import Run
    from ipytorchseed.why.explanation import Cause, Change, Cleared, Explanation

_MOST_CHANGES = 6
_MOST_CLEARED = 8


class WhyView(View):
    """An explanation made visible.

    Args:
        explanation: What is to be said.
        kernel: The kernel that asks.
    """

    def __init__(self, explanation: Explanation, kernel: str) -> None:
        self.explanation = explanation
        self.kernel = kernel

    @property
    def title(self) -> str:
        """The question as answered: which run, against which."""
        said = self.explanation
        name = run_name(said.run, self.kernel)
        if said.against is None:
            return f"{name}: {said.message}"
        other = run_name(said.against, self.kernel)
        if said.verdict == "same":
            return f"{name} gave bitwise the same result as {other}."
        if said.verdict == "explained":
            return f"Why {name} differs from {other}"
        if said.unknown:
            return f"{name}: {said.message}"
        return f"{name} differs from {other}, and nothing that was recorded does"

    @property
    def one_line(self) -> str:
        """The answer in a line, where the result changed; empty otherwise."""
        said = self.explanation
        if said.against is None or not said.changed:
            return ""
        named = visible(", ".join(f"{cause.kind} {cause.name}" for cause in said.causes))
        return (
            f"Not the result of {run_name(said.against, self.kernel)}:"
            f" {named or 'nothing recorded differs'}. See %why"
        )

    @property
    def next_step(self) -> str:
        """What to do where nothing explains the difference; empty otherwise."""
        said = self.explanation
        if said.verdict != "unexplained":
            return ""
        if said.unknown:
            values = {*said.run.reads, *said.run.writes}
            if values.isdisjoint(each.name for each in said.unknown):
                return ""
            return (
                "More time to look at a cell's values, in seconds: %config IPyTorchSeed.budget = 2"
            )
        programs = programs_of(said.run.asks)
        if programs:
            return (
                f"The cell {say_programs(programs)}. If it is not that, put %%deterministic --check"
                " on top of it and run it: that names the operation, or what else it is."
            )
        return (
            "The cell itself does not repeat. Put %%deterministic --check on top of it and run it:"
            " that names the operation, or what else it is."
        )

    @property
    def way_back(self) -> str:
        """What the commands that mend are good for."""
        if self.explanation.mend.complete:
            return "To get the earlier result back, then run the cell again:"
        return "This puts back what can be put back, before the cell is run again:"

    @property
    def series(self) -> Sequence[tuple[str, tuple[Sequence[float], Sequence[float]]]]:
        """Name of each series of numbers that changed, and the numbers before and after."""
        return [
            (change.name or change.what, (change.before, change.after))
            for change in self.explanation.changed
            if change.before and change.after and len(change.after) > 1
        ][:2]

    @property
    def curves(self) -> list[tuple[str, str]]:
        """Name and drawing of each series of numbers that changed."""
        return [(name, curves_svg(*pair)) for name, pair in self.series]

    @property
    def shown(self) -> Sequence[Change]:
        """The changes that are listed."""
        return self.explanation.changed[:_MOST_CHANGES]

    @property
    def more(self) -> int:
        """How many changes are not listed."""
        return len(self.explanation.changed) - len(self.shown)

    def begun(self, name: str) -> tuple[str | None, str | None]:
        """Return the states in which a source or generator was when each run began.

        Args:
            name: The source or generator.

        Returns:
            The digests, of the earlier run and of this one; None where it was not there.
        """
        runs = (self.explanation.against, self.explanation.run)
        states = [{} if run is None else states_of(run)[0] for run in runs]
        return states[0].get(name), states[1].get(name)

    def text(self) -> str:
        """Draw it for a terminal of 80 columns."""
        said = self.explanation
        parts = [wrap(self.title, first="")]
        for cause in said.causes:
            parts.append(wrap(cause.message, first="  ▲ "))
            parts += [f"      {visible(line, lines=True)}" for line in cause.proof.splitlines()]
            parts += [wrap(line, first="      mend: ") for line in own_mend(cause).splitlines()]
        if said.mend.commands:
            parts += ["", self.way_back]
            parts += [f"    {visible(command)}" for command in said.mend.commands]
        if self.next_step:
            parts.append(wrap(self.next_step, first="  "))
        if said.changed:
            parts += ["", "Changed"]
            for change in self.shown:
                parts.append(wrap(f"{_name(change)}: {change.detail}", first="  "))
                if change.before and change.after and len(change.after) > 1:
                    lines = sparklines(change.before, change.after)
                    parts += map("    {} {}".format, ("then ", "now  ", "apart"), lines)
            parts += [f"  and {self.more} more"] if self.more else []
        if said.cleared:
            names = [f"{suspect(each)} ({each.message})" for each in said.cleared[:_MOST_CLEARED]]
            parts += ["", wrap(f"Not the cause: {'; '.join(names)}", first="")]
        return "\n".join(parts)

    def html(self) -> str:
        """Draw it for a notebook, without script."""
        words = {"name": _name, "own_mend": own_mend, "suspect": suspect}
        return fill("why", view=self, said=self.explanation, **words)

    def to_json(self) -> str:
        """Write it as one line of JSON."""
        said = self.explanation
        return json.dumps(
            {
                "schema": 1,
                "cell": {"id": said.run.cell, "label": label_of(said.run.source)},
                "run": _run(said.run),
                "against": None if said.against is None else _run(said.against),
                "verdict": said.verdict,
                "message": said.message,
                "changed": [
                    {"what": change.what, "name": change.name, "detail": change.detail}
                    for change in said.changed
                ],
                "causes": [cause_json(cause) for cause in said.causes],
                "mend": {
                    "commands": said.mend.commands,
                    "complete": said.mend.complete,
                },
                "cleared": [
                    {"kind": each.kind, "name": each.name, "message": each.message}
                    for each in said.cleared
                ],
            }
        )


def own_mend(cause: Cause) -> str:
    """Return what mends a cause in another way than by commands before the cell is run again."""
    return "" if cause.goes_back else cause.fix


def suspect(it: Cause | Cleared) -> str:
    """Name a cause or what is none: a cell goes by an id, which nobody knows."""
    return "the cell's text" if it.kind == "code" else it.name


def cause_json(cause: Cause) -> dict[str, object]:
    """Return a cause as other programs read it."""
    return {
        "kind": cause.kind,
        "name": cause.name,
        "blame": [
            {"execution_count": each.run and each.run.execution_count, "how": each.how}
            for each in cause.blame
        ],
        "message": cause.message,
        "fix": cause.fix,
    }


def _name(change: Change) -> str:
    return change.name or change.what


def _run(run: Run) -> dict[str, object]:
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(run.started))
    return {"execution_count": run.execution_count, "kernel": run.kernel, "started": started}
