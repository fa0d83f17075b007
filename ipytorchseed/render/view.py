"""The base class of views, which print as text and display as static HTML.

The HTML has no script and one stylesheet. All text from the user is escaped, and invisible
characters are made visible.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ipytorchseed.render.links import cause_page, flag_page
from ipytorchseed.render.text import draw_table, visible, wrap
from ipytorchseed.render.values import code, hue, short_digest

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


def fill(template: str, **values: Any) -> str:
    """Render a template in the folder ``templates``.

    Args:
        template: Its name without ``.html``.
        values: Its variables. Text is escaped by the template engine.
    """
    return _environment().get_template(f"{template}.html").render(**values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("ipytorchseed.render"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    made.globals |= {"stylesheet": stylesheet, "cause_page": cause_page, "flag_page": flag_page}
    made.filters |= {"breakable": _breakable, "coded": _coded, "code": code, "hue": hue}
    made.filters |= {"short": short_digest}
    return made


def _finalize(value: object) -> object:
    """Escape invisible characters in a text, unless it is our own markup."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return visible(value, lines=True)
    return value


def _breakable(text: str) -> Markup:
    """Return a text as HTML that may break in a name, after a dot or underscore."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(map(escape, re.split(r"(?<=[._=])(?=[^\W\d])", visible(text))))


def _coded(text: str) -> Markup:
    """Return a text as HTML, with everything between backticks as code."""
    from markupsafe import Markup

    parts = enumerate(re.split(r"`([^`]+)`", visible(text, lines=True)))
    return Markup("").join(Markup("<code>{}</code>").format(p) if n % 2 else p for n, p in parts)


@cache
def stylesheet() -> str:
    """Return the minified stylesheet of everything that we display in a notebook."""
    return squeeze((files("ipytorchseed.render") / "templates" / "its.css").read_text("utf-8"))


def squeeze(css: str) -> str:
    """Minify a stylesheet: each output contains a copy."""
    bare = re.sub(r"/\*(?:(?!\*/|/\*).)*\*/", "", css, flags=re.DOTALL)
    tight = re.sub(r" ?([{};,>]) ?", r"\1", re.sub(r"\s+", " ", bare))
    return tight.replace(": ", ":").replace(";}", "}").strip()


class View(ABC):
    """A view of a record, as text and as static HTML.

    Attributes:
        template: The name of the template, which receives the view as ``view``.
    """

    template = ""

    @abstractmethod
    def text(self) -> str:
        """Return the view as text for a terminal of 80 columns."""

    def html(self) -> str:
        """Return the view as HTML, without scripts."""
        return fill(self.template, view=self)

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.html()


class TableView(View):
    """A table with a title above it and remarks below it.

    Attributes:
        title: The title; empty if there is none.
        is_warning: Whether the title is a warning.
        columns: Each column's heading and style. The style is one or more of these words:
            ``code``; ``dim``; ``number``, aligned to the right; ``whole``, never wrapped;
            ``state``, a digest; ``line``, a line number, with that line's code in HTML.
        codes: For each row, the code of the line that it names.
        rows: The text of each cell.
        remarks: Sentences below the table.
    """

    template = "table"
    title: str = ""
    is_warning = False
    columns: Sequence[tuple[str, str]]
    codes: Sequence[str] = ()
    remarks: Sequence[str] = ()
    rows: Sequence[Sequence[str]]

    def text(self) -> str:
        """Return the view as text for a terminal of 80 columns."""
        table = wrap(self.title, first="")
        if self.rows:
            rows = [[*map(_shown, row, self.columns)] for row in self.rows]
            columns = {heading: _options(style) for heading, style in self.columns}
            table = draw_table(self.title, columns, rows)
        return "\n".join([table, *(wrap(each, first="") for each in self.remarks)])


def _shown(cell: str, column: tuple[str, str]) -> str:
    return short_digest(cell) if column[1] == "state" else cell


def _options(style: str) -> Mapping[str, Any]:
    """Return rich's options for a column."""
    if "number" in style or "line" in style:
        return {"justify": "right"}
    return {"no_wrap": True} if "whole" in style else {"overflow": "fold"}
