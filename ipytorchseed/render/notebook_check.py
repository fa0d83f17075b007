"""``%check`` as text, HTML and JSON: what Restart & Run All would not reproduce."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from ipytorchseed.render.text import visible, wrap
from ipytorchseed.render.values import pick, write_json
from ipytorchseed.render.view import View
from ipytorchseed.session.restart import Remark
from ipytorchseed.why.words import many


class Fresh(Struct, omit_defaults=True):
    """The run of the saved file in a fresh kernel.

    Attributes:
        progress: How far the run is; empty if it has ended, or was not started.
        verdict: The result, as in ``check --json``; None if there is none.
        changes: The differences in the first cell that differs.
        edits: The edits that make the notebook repeat, as lines of a diff.
        note: A sentence about what was not done, and why.
    """

    progress: str = ""
    verdict: dict[str, Any] | None = None
    changes: list[str] = []
    edits: list[str] = []
    note: str = ""


class NotebookCheckView(View):
    """What Restart & Run All would change, from records and from a fresh run.

    Args:
        path: The notebook's path; empty if its file is unknown.
        remarks: The findings from records, without a run.
        fresh: The run in a fresh kernel.
        numbers: Each cell's number in ``In[...]`` in this kernel, by the cell's id in the file.
    """

    template = "notebook_check"
    most = 6  # differences of a cell that are shown
    fixes = "With these edits the notebook gives the same result each time:"

    def __init__(
        self, path: str, remarks: Sequence[Remark], fresh: Fresh, numbers: Mapping[str, int | None]
    ) -> None:
        self.path, self.remarks, self.fresh, self._numbers = path, remarks, fresh, numbers

    @property
    def title(self) -> str:
        """A sentence that says how many things a restart would change."""
        if not self.remarks:
            return "Nothing recorded here would change with Restart & Run All."
        if self.result[0] == "✓":
            return f"{many(len(self.remarks), 'thing')} to look at in this session:"
        reasons = many(len(self.remarks), "reason")
        return f"Restart & Run All may not give what this notebook shows: {reasons}."

    @property
    def result(self) -> tuple[str, str]:
        """A mark, and the result of the fresh run; empty if it has not ended."""
        verdict = self.fresh.verdict
        if verdict is None:
            return "", ""
        ended = verdict.get("error") or verdict.get("unreached", {}).get("reason", "")
        first = verdict["first_divergence"]
        wrong = [] if first is None else [f"{self._name(first)} is the first to differ"]
        wrong += [f"the run ends early, because {ended}"] if ended else []
        if wrong:
            return "✗", f"In a fresh kernel, {'; '.join(wrong)}."
        compared = many(sum(each["outputs"] == "same" for each in verdict["cells"]), "cell")
        return "✓", f"In a fresh kernel, the file gives the same output: {compared} compared."

    @property
    def steps(self) -> Iterator[tuple[str, Sequence[Mapping[str, Any]]]]:
        """The first cell that differs, and another cell that has the cause, if any.

        Each has a heading, empty for the first, and its causes.
        """
        verdict = self.fresh.verdict or {}
        first, origin = verdict.get("first_divergence"), verdict.get("origin")
        if first:
            yield "", first["causes"]
        if first and origin and origin["id"] != first["id"]:
            yield f"The cause is in {self._name(origin)}:", origin["causes"]

    def _name(self, cell: Mapping[str, Any]) -> str:
        there = cell["message"].partition(" ")[0]
        here = f"In[{self._numbers.get(cell['id'])}]"
        same = cell["id"] not in self._numbers or here == there
        return f"`{there}`" if same else f"`{here}` (`{there}` there)"

    def text(self) -> str:
        """Return the view as text for a terminal of 80 columns."""
        fresh, (mark, result) = self.fresh, self.result
        lines = [self.title, *(wrap(each.message, first="  ▲ ") for each in self.remarks)]
        lines += ["", wrap(result, first=f"{mark} ")] if result else []
        lines += [wrap(each, first="    ") for each in fresh.changes[: self.most]]
        for begins, causes in self.steps:
            lines += [wrap(begins, first="  ")] if begins else []
            for cause in causes:
                lines.append(wrap(cause["message"], first="  ▲ "))
                lines += [f"    try: {visible(each)}" for each in cause["fix"].splitlines()]
        lines += ["", self.fixes, *map(visible, fresh.edits)] if fresh.edits else []
        lines += ["", wrap(fresh.note, first="")] if fresh.note else []
        lines += ["", f"{fresh.progress} · %check stop"] if fresh.progress else []
        return "\n".join(lines)

    def to_json(self) -> str:
        """Return the view as one line of JSON."""
        return write_json(
            path=self.path,
            remarks=[pick(each, "kind", "name", "message", "runs") for each in self.remarks],
            **pick(self.fresh, "verdict", "changes", "edits", "note"),
        )
