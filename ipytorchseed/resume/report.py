"""What ``check_resume`` found, to read and for other programs."""

from __future__ import annotations

import json

import msgspec

from ipytorchseed.render.text import visible, wrap
from ipytorchseed.render.view import View, fill
from ipytorchseed.resume.comparing import Comparison, Finding


class ResumeReport(View):
    """What the second half of a training did not get back.

    Attributes:
        ok: Whether it goes on as if it had not stopped.
        findings: What did not come back, and matters.
        harmless: What did not come back, and made no difference here.
        first: The first step after which a parameter differs, and which; None where none does.
        steps: How many the whole training took.
        at: After how many it was saved.
        notes: What else was noticed, a sentence each.
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
            return f"Training {run} goes on bit for bit as if it had not stopped."
        if self.findings and self.findings[0].kind == "train":
            return f"It cannot be told whether training {run} goes on as if it had not stopped:"
        return f"Training {run} does not go on as if it had not stopped:"

    @property
    def remarks(self) -> list[str]:
        """What else is to be said, a sentence each."""
        said = []
        if self.first:
            said.append(f"First difference: {self.first.parameter}, after step {self.first.step}.")
        if self.harmless:
            names = ", ".join(dict.fromkeys(each.name for each in self.harmless))
            said.append(f"Not put back, without effect in these steps: {names}.")
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
        told = {
            "schema": 1,
            "ok": self.ok,
            "steps": self.steps,
            "at": self.at,
            "findings": self.findings,
            "harmless": self.harmless,
            "first_difference": self.first,
            "notes": self.notes,
        }
        return json.dumps(msgspec.to_builtins(told))


def sentence(finding: Finding) -> str:
    """Say a finding in words."""
    kind = "" if finding.name in (finding.kind, "train") else f" ({finding.kind})"
    saved = {
        True: "; the checkpoint has it, and it was not put back",
        False: "; it is not in the checkpoint",
        None: "",
    }[finding.saved]
    return f"{finding.name}{kind}: {finding.message}{saved}"
