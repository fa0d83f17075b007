"""A table that is described once, and drawn as text and as HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ipytorchseed.render.text import draw_table, wrap
from ipytorchseed.render.values import short_digest
from ipytorchseed.render.view import View


class TableView(View):
    """A table with a title above it and remarks below it.

    Attributes:
        warnings: Paragraphs in front of the title.
        title: The title; or empty.
        is_warning: Whether the title is a warning.
        columns: Each column's heading and style. The style is one or more of these words:
            ``code``; ``dim``; ``number``, aligned to the right; ``whole``, never wrapped;
            ``state``, a digest; ``line``, a number that the line's code follows in HTML.
        codes: The code of the line in each row.
        remarks: Sentences below the table.
    """

    template = "table"
    warnings: Sequence[str] = ()
    title: str = ""
    is_warning = False
    columns: Sequence[tuple[str, str]]
    codes: Sequence[str] = ()
    remarks: Sequence[str] = ()
    rows: Sequence[Any]

    @property
    def cells(self) -> Sequence[Sequence[str]]:
        """The text of each cell."""
        return self.rows

    def text(self) -> str:
        """Return the view as text for a terminal of 80 columns."""
        table = wrap(self.title, first="")
        if self.cells:
            states = [place for place, (_, style) in enumerate(self.columns) if style == "state"]
            rows = [
                [short_digest(cell) if place in states else cell for place, cell in enumerate(row)]
                for row in self.cells
            ]
            columns = {heading: _options(style) for heading, style in self.columns}
            table = draw_table(self.title, columns, rows)
        others = [[wrap(each, first="") for each in said] for said in (self.warnings, self.remarks)]
        return "\n".join([*others[0], table, *others[1]])


def _options(style: str) -> Mapping[str, Any]:
    """Return rich's options for a column."""
    if "number" in style or "line" in style:
        return {"justify": "right"}
    return {"no_wrap": True} if "whole" in style else {"overflow": "fold"}
