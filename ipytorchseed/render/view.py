"""The base class of views, which print as text and display as static HTML.

The HTML has no script and one stylesheet. All text from the user is escaped, and made visible.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ipytorchseed.render.links import cause_page, flag_page
from ipytorchseed.render.text import visible
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


@lru_cache(maxsize=1)
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
    """Make a text visible, unless it is our own markup, which templates mark as safe."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return visible(value, lines=True)
    return value


def _breakable(text: str) -> Markup:
    """Return a text as HTML that may break in a name, after a dot or underscore."""
    from markupsafe import Markup, escape

    parts = re.split(r"(?<=[._=])(?=[^\W\d])", visible(text))
    return Markup("<wbr>").join(map(escape, parts))


def _coded(text: str) -> Markup:
    """Return a text as HTML, with everything between backticks as code."""
    from markupsafe import Markup

    parts = enumerate(re.split(r"`([^`]+)`", visible(text, lines=True)))
    return Markup("").join(Markup("<code>{}</code>").format(p) if n % 2 else p for n, p in parts)


@lru_cache(maxsize=1)
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
