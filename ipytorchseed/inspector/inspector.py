"""The widget: an ES module, a stylesheet and a wire. What it draws comes by messages.

Imported when the first inspector is shown, not before: it brings the widget stack.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any

import anywidget  # noqa: TID253 -- see above

from ipytorchseed.render.inspection import Model, visible_model
from ipytorchseed.render.view import squeeze, stylesheet

_STATIC = files("ipytorchseed.inspector") / "static"

_COMMENT = re.compile(r"^ *(?:/\*\*(?:(?!\*/).)*\*/|//[^\n]*)\n", re.DOTALL | re.MULTILINE)
"""A comment with lines of its own, as the types are, which no browser reads."""


def squeeze_module(text: str) -> str:
    """Take comments and indentation out of an ES module, as each notebook keeps a copy."""
    return re.sub(r"^ +", "", _COMMENT.sub("", text), flags=re.MULTILINE)


_TEXT = "The live inspector. It needs Jupyter widgets; the table above shows the same."
"""For front ends without widgets."""


class Inspector(anywidget.AnyWidget):
    """A widget whose saved state is its code alone: rows are asked for as they come into sight.

    Attributes:
        answer: Gives the answer to a question of a view; None while nobody is there to answer.
    """

    _esm = squeeze_module((_STATIC / "inspector.js").read_text("utf-8"))
    _css = stylesheet() + squeeze((_STATIC / "inspector.css").read_text("utf-8"))

    def __init__(self) -> None:
        super().__init__()
        self.answer: Callable[[Mapping[str, Any]], Model | None] | None = None
        self.on_msg(self._asked)

    def say(self, model: Model) -> None:
        """Tell every view."""
        self.send(visible_model(model))

    def _asked(self, _: object, content: Any, __: object) -> None:  # noqa: ANN401 -- what views send
        if not isinstance(content, dict):
            return
        if self.answer is None:
            told: Model | None = {"say": "gone", "text": "ipytorchseed is not loaded now."}
        else:
            told = self.answer(content)
        if told is not None:
            self.say({**told, "view": content.get("view")})

    def __repr__(self) -> str:
        return _TEXT
