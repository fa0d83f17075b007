"""The base of all views.

Prints itself, and shows itself in a notebook as static HTML.

There is no script in it and one stylesheet; all that is of the user is escaped and visible.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ipytorchseed.render.links import cause_page, flag_page
from ipytorchseed.render.text import visible
from ipytorchseed.render.values import code, hue

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


def fill(template: str, **values: Any) -> str:
    """Fill a template of this folder's ``templates``.

    Args:
        template: Its name without ``.html``.
        values: What it shows. Text is escaped by the template engine.
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
    return made


def _finalize(value: object) -> object:
    """Return a value as it may be shown; what a template calls safe is markup of ours."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return visible(value, lines=True)
    return value


def _breakable(text: str) -> Markup:
    """Return a text whose lines may break inside a name, after a dot or underscore."""
    from markupsafe import Markup, escape

    parts = re.split(r"(?<=[._=])(?=[^\W\d])", visible(text))
    return Markup("<wbr>").join(map(escape, parts))


def _coded(text: str) -> Markup:
    """Return a text in which what stands between backticks is set as code."""
    from markupsafe import Markup

    parts = enumerate(re.split(r"`([^`]+)`", visible(text, lines=True)))
    return Markup("").join(Markup("<code>{}</code>").format(p) if n % 2 else p for n, p in parts)


@lru_cache(maxsize=1)
def stylesheet() -> str:
    """Return the style of everything that we show in a notebook, as small as it gets."""
    return squeeze((files("ipytorchseed.render") / "templates" / "its.css").read_text("utf-8"))


def squeeze(css: str) -> str:
    """Remove comments and blanks from a stylesheet, which each output copies."""
    bare = re.sub(r"/\*(?:(?!\*/|/\*).)*\*/", "", css, flags=re.DOTALL)
    tight = re.sub(r" ?([{};,>]) ?", r"\1", re.sub(r"\s+", " ", bare))
    return tight.replace(": ", ":").replace(";}", "}").strip()


class View(ABC):
    """A record made visible, as text and as static HTML.

    Attributes:
        template: The name of its template, which is filled from the view itself.
    """

    template = ""

    @abstractmethod
    def text(self) -> str:
        """Draw it for a terminal of 80 columns."""

    def html(self) -> str:
        """Draw it for a notebook, without script."""
        return fill(self.template, view=self)

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.html()
