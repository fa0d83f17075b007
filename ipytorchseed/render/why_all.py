"""``%why all`` as text, HTML and JSON: the changed cells, grouped by root."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ipytorchseed.render.text import wrap
from ipytorchseed.render.values import pick, write_json
from ipytorchseed.render.view import View
from ipytorchseed.render.why import WhyView
from ipytorchseed.why.evidence import run_name, run_word
from ipytorchseed.why.explanation import Explanation, Root
from ipytorchseed.why.words import many

# The root of cells whose change is not explained.
_UNKNOWN = Root("", "", "no recorded input changed")


class Group(Struct, frozen=True):
    """Cells that changed for one reason.

    Attributes:
        root: The reason.
        cells: The change of each cell: ``In[7] `acc` 0.93 → 0.97``.
        runs: The number in ``In[...]`` of each cell's run.
    """

    root: Root
    cells: list[str] = []
    runs: list[int | None] = []


class NotebookView(View):
    """The cells of a notebook whose last run gave a different result.

    Args:
        explanations: The explanation of the last run of each cell that ran twice, oldest first.
        cells: The number of cells, including those that ran once.
        kernel: The id of the current kernel.

    Attributes:
        title: The number of cells that changed, and of roots.
        groups: The cells by root, the largest group first.
        next_step: The cell to ask about next; or empty.
    """

    template = "why_all"

    def __init__(self, explanations: Sequence[Explanation], cells: int, kernel: str) -> None:
        changed, twice = [said for said in explanations if said.changed], len(explanations)
        self._counts = {"cells": cells, "compared": twice, "changed": len(changed)}
        groups: dict[tuple[str, str], Group] = {}  # with the first cell's description of a root
        for said in changed:
            view = WhyView(said, kernel)
            for root in view.all_roots or (_UNKNOWN,):
                group = groups.setdefault((root.kind, root.name), Group(root))
                group.cells.append(f"{run_name(said.run, kernel)} {view.headline}")
                group.runs.append(said.run.execution_count)
        self.groups = sorted(groups.values(), key=lambda group: -len(group.cells))
        self.title, self.next_step = "No cell ran twice yet.", ""
        if changed:
            known = sum(group.root is not _UNKNOWN for group in self.groups)
            roots = f" {many(known, 'root cause')}." if known else ""
            self.title = f"{len(changed)} of {many(twice, 'cell')} changed.{roots}"
            self.next_step = f"More about one of them: %why {run_word(changed[0].run, kernel)}"
        elif explanations:
            self.title = f"None of {many(twice, 'cell')} changed since the run before."
        self.title += f" {many(cells - twice, 'cell')} ran only once." if cells > twice else ""

    def text(self) -> str:
        """Return the view as text for a terminal of 80 columns."""
        parts = [wrap(self.title, first="")]
        for group in self.groups:
            parts.append(wrap(group.root.message, first="  ◆ "))
            parts += [wrap(cell, first="      ") for cell in group.cells]
        if self.next_step:
            parts += ["", self.next_step]
        return "\n".join(parts)

    def to_json(self) -> str:
        """Return the view as one line of JSON."""
        return write_json(
            **self._counts,
            roots=[
                {**pick(it.root, "kind", "name", "message"), "runs": it.runs} for it in self.groups
            ],
        )
