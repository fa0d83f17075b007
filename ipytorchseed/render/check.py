"""The result of ``--check`` as text, HTML and JSON."""

from __future__ import annotations

from ipytorchseed.experiment.verdict import Checked, Culprit
from ipytorchseed.render.text import visible, width, wrap
from ipytorchseed.render.values import pick, write_json
from ipytorchseed.render.view import View
from ipytorchseed.why.evidence import run_phrase
from ipytorchseed.why.explanation import Explanation
from ipytorchseed.why.words import many, sentence, stream_of

# The maximum number of differences that are listed.
_MOST = 6

_KNOWN = {
    "switches": "torch has a deterministic algorithm for it.",
    "raises": "torch has no deterministic algorithm for it.",
    "": "torch's documentation does not list it as nondeterministic.",
}


class CheckView(View):
    """A view of the result of a check.

    Args:
        checked: The result.
        said: How the cell's run differed from its previous run; None if unknown.
        kernel: The id of the current kernel.

    Attributes:
        notes: Sentences about what could not be copied, observed or guaranteed.
        listed: What differs: each name, and by how much.
        more: The number of differences that are not listed.
    """

    template = "check"

    def __init__(self, checked: Checked, said: Explanation | None = None, kernel: str = "") -> None:
        self.checked = checked
        self.notes = [*map(sentence, checked.notes)]
        self.listed = [
            (each.name or each.what, each.detail) for each in checked.differences[:_MOST]
        ]
        self.more = max(0, len(checked.differences) - _MOST)
        self._said = said
        self._kernel = kernel

    @property
    def title(self) -> str:
        """The answer in a sentence."""
        checked = self.checked
        if not checked.compared:
            why = "" if checked.notes else ": the cell made no variable and showed nothing"
            return f"There is nothing to compare{why}."
        if checked.reproducible:
            runs = f"{_times(checked.runs)} from the same state"
            return f"The cell repeats, bit for bit: {runs} gave the same result."
        if checked.culprit is not None:
            several = checked.entry is not None
            how = ", for more than one reason." if several else f": {self.where(checked.culprit)}"
            return f"The cell does not repeat{how}"
        if checked.first_only:
            return "The cell's first run differs from the others, which agree."
        outside = checked.entry is not None or checked.suspects
        but = ", although each torch operation does" if outside else ""
        return f"The cell does not repeat{but}."

    @property
    def begins(self) -> str:
        """A sentence about inputs that changed since the last run of a repeating cell."""
        said = self._said
        if not self.checked.reproducible or said is None or said.against is None:
            return ""
        names = [
            f"`{each.name}`" if each.kind == "input" else stream_of(each.name)
            for each in said.causes
            if each.kind in ("input", "rng")
        ]
        if not said.changed or not names:
            return ""
        run = run_phrase(said.against, self._kernel)
        return f"What changed since {run} is what it starts from: {', '.join(names)}."

    @staticmethod
    def where(culprit: Culprit) -> str:
        """Describe an operation and its place."""
        line = "" if culprit.line is None else f" on line {culprit.line}"
        if culprit.unwritten:
            return f"{culprit.operation}{line} gives memory that is used before it is written."
        if culprit.backward and culprit.line is not None:
            line = f", in the backward pass of line {culprit.line},"
        return f"{culprit.operation}{line} gives different results for the same input."

    @property
    def evidence(self) -> list[str]:
        """Sentences about the operation that does not repeat."""
        culprit = self.checked.culprit
        if culprit is None:
            return []
        said = []
        if culprit.module:
            said.append(f"It runs in {culprit.module}.")
        if culprit.read_by is not None and culprit.read_by[1]:
            said.append(f"{culprit.read_by[0]} on line {culprit.read_by[1]} reads it.")
        if culprit.operation.startswith("aten::") and not culprit.unwritten:
            repeats = culprit.known and self.checked.with_flags == "repeats"
            said.append(_KNOWN["switches" if repeats else culprit.known])
        return said

    @property
    def findings(self) -> list[str]:
        """Sentences about what differed first, if an operation alone does not explain it."""
        checked, entry, culprit = self.checked, self.checked.entry, self.checked.culprit
        said = [*map(sentence, checked.suspects)]
        if entry is not None:
            line = "" if entry.line is None else f" on line {entry.line}"
            what = "drew from a generator in a different state"
            if not entry.draws:
                what = "is the first operation with different inputs; the difference came from"
                what += " outside torch"
            why = said or ["Nothing was found that explains this."]
            said = [f"{entry.operation}{line} {what}.", *why]
            said += [] if culprit is None else [self.where(culprit)]
        elif checked.operations and not (culprit or said or checked.first_only):
            count = many(checked.operations, "operation")
            said = [f"While its {count} were being traced, the cell did repeat."]
        return said

    @property
    def remedies(self) -> list[str]:
        """Sentences about fixes."""
        checked = self.checked
        if checked.first_only:
            return []
        how = {
            "repeats": "it repeats: put %%deterministic at the top of the cell"
            " (torch.use_deterministic_algorithms).",
            "error": f"it fails: {checked.flags_said}",
            "differs": "it still does not repeat.",
        }
        flags = checked.with_flags
        said = [f"With deterministic algorithms {how[flags]}"] if flags else []
        if checked.culprit is not None and checked.culprit.instead:
            said.append(f"Use instead: {checked.culprit.instead}.")
        return said

    def text(self) -> str:
        """Return the view as text for a terminal of 80 columns."""
        checked = self.checked
        parts = [wrap(each, first="") for each in (self.title, self.begins) if each]
        culprit = checked.culprit
        parts += [wrap(each, first="  ▲ ") for each in self.findings]
        if culprit is not None and culprit.code:
            code = visible(f"{culprit.line}: {culprit.code}")
            parts.append(f"      {code}"[: width()].rstrip())
        parts += [wrap(each, first="    ") for each in self.evidence]
        if self.remedies:
            parts += ["", *(wrap(each, first="") for each in self.remedies)]
        if self.listed:
            parts += ["", f"Differs between {_times(checked.runs)}"]
            parts += [wrap(f"{name}: {detail}", first="  ") for name, detail in self.listed]
            parts += [f"  and {self.more} more"] if self.more else []
        if self.notes:
            parts += ["", *(wrap(note, first="Note: ") for note in self.notes)]
        return "\n".join(parts)

    def to_json(self) -> str:
        """Return the view as one line of JSON."""
        checked, culprit = self.checked, self.checked.culprit
        first = culprit and {**pick(culprit, "operation", "line", "index"), "inputs_equal": True}
        return write_json(
            **pick(checked, "reproducible", "runs"),
            differences=[pick(each, "what", "name", "detail") for each in checked.differences],
            first_divergence=first,
            with_flags=checked.with_flags,
            **({"notes": self.notes} if self.notes else {}),
        )


def _times(runs: int) -> str:
    return "two runs" if runs == 2 else f"{runs} runs"  # noqa: PLR2004
