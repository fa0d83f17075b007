"""``%why all`` as text, HTML and JSON: the changed cells, grouped by root."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ipytorchseed.render.text import wrap
from ipytorchseed.render.values import write_json
from ipytorchseed.render.view import View, fill
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
    """

    def __init__(self, explanations: Sequence[Explanation], cells: int, kernel: str) -> None:
        self._changed = [said for said in explanations if said.changed]
        self._compared = len(explanations)
        self._cells = cells
        self._kernel = kernel
        self.groups = self._group()

    def _group(self) -> list[Group]:
        """Group the cells by root; the first cell's description of a root is used."""
        groups: dict[tuple[str, str], Group] = {}
        for said in self._changed:
            view = WhyView(said, self._kernel)
            cell = f"{run_name(said.run, self._kernel)} {view.headline}"
            for root in view.all_roots or (_UNKNOWN,):
                group = groups.setdefault((root.kind, root.name), Group(root))
                group.cells.append(cell)
                group.runs.append(said.run.execution_count)
        return sorted(groups.values(), key=lambda group: -len(group.cells))

    @property
    def title(self) -> str:
        """The number of cells that changed, and of roots."""
        known = [group for group in self.groups if group.root is not _UNKNOWN]
        once = self._cells - self._compared
        rest = f" {many(once, 'cell')} ran only once." if once else ""
        if not self._changed:
            if not self._compared:
                return f"No cell ran twice yet.{rest}"
            return f"None of {many(self._compared, 'cell')} changed since the run before.{rest}"
        count = len(self._changed)
        roots = f" {'One root' if len(known) == 1 else many(len(known), 'root')}." if known else ""
        return f"{count} of {many(self._compared, 'cell')} changed.{roots}{rest}"

    @property
    def next_step(self) -> str:
        """The cell to ask about next; or empty."""
        if not self._changed:
            return ""
        return f"More about one of them: %why {run_word(self._changed[0].run, self._kernel)}"

    def text(self) -> str:
        """Return the view as text for a terminal of 80 columns."""
        parts = [wrap(self.title, first="")]
        for group in self.groups:
            parts.append(wrap(group.root.message, first="  ◆ "))
            parts += [wrap(cell, first="      ") for cell in group.cells]
        if self.next_step:
            parts += ["", self.next_step]
        return "\n".join(parts)

    def html(self) -> str:
        """Return the view as HTML, without scripts."""
        return fill("why_all", view=self)

    def to_json(self) -> str:
        """Return the view as one line of JSON."""
        return write_json(
            cells=self._cells,
            compared=self._compared,
            changed=len(self._changed),
            roots=[
                {
                    "kind": group.root.kind,
                    "name": group.root.name,
                    "message": group.root.message,
                    "runs": group.runs,
                }
                for group in self.groups
            ],
        )
