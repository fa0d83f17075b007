"""The result of ``--check`` as text, HTML and JSON."""

from __future__ import annotations

from collections.abc import Iterator

from ipytorchseed.experiment.verdict import Checked, Culprit
from ipytorchseed.render.text import visible, width, wrap
from ipytorchseed.render.values import pick, write_json
from ipytorchseed.render.view import View
from ipytorchseed.why.words import many, sentence

# The maximum number of differences that are listed.
_MOST = 6

_KNOWN = {
    "switches": "torch has a deterministic algorithm for it.",
    "raises": "torch has no deterministic algorithm for it.",
    "": "torch's documentation does not list it as nondeterministic.",
}

# What happens under deterministic algorithms; torch's error follows.
_WITH_FLAGS = {
    None: "",
    "repeats": "the cell repeats. %%deterministic at the top of the cell turns them on.",
    "error": "the cell fails: ",
    "differs": "the cell still does not repeat.",
}

_DREW = "drew from a generator in a different state"
_OUTSIDE = "is the first operation with different inputs; the difference came from outside torch"


class CheckView(View):
    """A view of the result of a check.

    Args:
        checked: The result.

    Attributes:
        notes: Sentences about what could not be copied, observed or guaranteed.
        listed: What differs: each name, and by how much.
        more: The number of differences that are not listed.
    """

    template = "check"

    def __init__(self, checked: Checked) -> None:
        self.checked, listed = checked, checked.differences[:_MOST]
        self.notes = [*map(sentence, checked.notes)]
        self.listed = [(each.name or each.what, each.detail) for each in listed]
        self.more = len(checked.differences) - len(listed)

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
            if checked.entry is not None:
                return "The cell does not repeat, for more than one reason."
            return f"The cell does not repeat: {_where(checked.culprit)}"
        if checked.first_only:
            return "The cell's first run differs from the others, which agree."
        outside = checked.entry is not None or checked.suspects
        but = ", although each torch operation does" if outside else ""
        return f"The cell does not repeat{but}."

    @property
    def evidence(self) -> Iterator[str]:
        """Sentences about the operation that does not repeat."""
        culprit = self.checked.culprit
        if culprit is None:
            return
        if culprit.module:
            yield f"It runs in {culprit.module}."
        if culprit.read_by is not None and culprit.read_by[1]:
            yield f"{culprit.read_by[0]} on line {culprit.read_by[1]} reads it."
        if culprit.operation.startswith("aten::") and not culprit.unwritten:
            repeats = culprit.known and self.checked.with_flags == "repeats"
            yield _KNOWN["switches" if repeats else culprit.known]

    @property
    def findings(self) -> list[str]:
        """Sentences about what differed first, if an operation alone does not explain it."""
        checked, entry, culprit = self.checked, self.checked.entry, self.checked.culprit
        said = [*map(sentence, checked.suspects)]
        if entry is not None:
            line = "" if entry.line is None else f" on line {entry.line}"
            why = said or ["Nothing was found that explains this."]
            said = [f"{entry.operation}{line} {_DREW if entry.draws else _OUTSIDE}.", *why]
            said += [] if culprit is None else [_where(culprit)]
        elif checked.operations and not (culprit or said or checked.first_only):
            count = many(checked.operations, "operation")
            said = [
                f"While its {count} were being traced, the cell did repeat; so none can be named."
            ]
        return said

    @property
    def remedies(self) -> list[str]:
        """Sentences about fixes."""
        checked, culprit = self.checked, self.checked.culprit
        flags = "" if checked.first_only else _WITH_FLAGS[checked.with_flags]
        said = [f"With deterministic algorithms {flags}{checked.flags_said}"] if flags else []
        if culprit is not None and culprit.instead and not checked.first_only:
            said.append(f"Use instead: {culprit.instead}.")
        return said

    def text(self) -> str:
        """Return the view as text for a terminal of 80 columns."""
        checked = self.checked
        parts, culprit = [wrap(self.title, first="")], checked.culprit
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


def _where(culprit: Culprit) -> str:
    """Describe an operation and its place."""
    line = "" if culprit.line is None else f" on line {culprit.line}"
    if culprit.unwritten:
        return f"{culprit.operation}{line} gives memory that is used before it is written."
    if culprit.backward and line:
        line = f", in the backward pass of line {culprit.line},"
    return f"{culprit.operation}{line} gives different results for the same input."


def _times(runs: int) -> str:
    return "two runs" if runs == 2 else f"{runs} runs"  # noqa: PLR2004
