"""The inspector's widgets, with and without IPython."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any

import anywidget  # noqa: TID253 -- this file is imported only to show a widget
from traitlets import Dict

from ipytorchseed.determinism import alerts
from ipytorchseed.errors import in_brief
from ipytorchseed.foreign import refuse_deep
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.render.inspection import NO_TORCH, Model, now_model, settings_model, visible_model
from ipytorchseed.render.report import report
from ipytorchseed.render.seeding import Present, SeedStatus
from ipytorchseed.render.view import squeeze, stylesheet
from ipytorchseed.rng.generators import find_generators
from ipytorchseed.rng.table import recent_seeds
from ipytorchseed.rng.torch_random import has_torch

_STATIC = files("ipytorchseed.inspector") / "static"

# The modules, each after the ones that it imports. They are joined: a widget has only one module.
_SCRIPTS = ("elements", "shelf", "channel", "answer", "timeline", "inspector")

# Imports and exports between our modules, which are removed.
_LINKS = lazy_pattern(r"^import [^;]*;\n|^export (?!default)", re.MULTILINE)

# A comment that takes whole lines, such as one with types.
_COMMENT = lazy_pattern(r"^ *(?:/\*\*(?:(?!\*/|/\*\*).)*\*/|//[^\n]*)\n", re.DOTALL | re.MULTILINE)


def join_modules() -> str:
    """Return our ES modules, joined, and minified because each notebook saves a copy."""
    texts = (_LINKS.sub("", (_STATIC / f"{name}.js").read_text("utf-8")) for name in _SCRIPTS)
    return re.sub(r"^ +", "", _COMMENT.sub("", "".join(texts)), flags=re.MULTILINE)


# The deepest nesting of a view's message.
_DEEPEST = 4

# Shown by front ends without widgets.
_TEXT = "The live inspector. It needs Jupyter widgets; the table above shows the same."


class Inspector(anywidget.AnyWidget):
    """A widget that saves only its code: views request rows when they become visible.

    Attributes:
        answer: Returns the answer to a view's question; None if the extension is not loaded.
    """

    _esm = join_modules()
    _css = stylesheet() + squeeze((_STATIC / "inspector.css").read_text("utf-8"))

    def __init__(self) -> None:
        super().__init__()
        self.answer: Callable[[Mapping[str, Any]], Model | None] | None = None
        self.on_msg(self._asked)

    def say(self, model: Model) -> None:
        """Send a message to every view."""
        self.send(visible_model(model))

    def _asked(self, _: object, content: Any, __: object) -> None:  # noqa: ANN401 -- JSON of a view
        if not isinstance(content, dict):
            return
        try:
            refuse_deep(content, _DEEPEST)
            gone = {"say": "gone", "text": "ipytorchseed is not loaded now."}
            told = gone if self.answer is None else self.answer(content)
            if told is not None:
                self.say({**told, "view": content.get("view")})
        except Exception as error:  # noqa: BLE001 -- the view that asked shows any error
            self.say({"say": "done", "ok": False, "text": in_brief(error)})

    def __repr__(self) -> str:
        return _TEXT


class Alone(Inspector):
    """A widget with states, settings and the alerts of finished blocks, without runs.

    The content at the start is saved with the widget, for pages without a kernel.

    Args:
        names: The namespace whose generators are shown.
    """

    told = Dict().tag(sync=True)

    def __init__(self, names: Mapping[str, Any]) -> None:
        state = random.getstate()
        try:
            super().__init__()
        finally:
            random.setstate(state)  # marimo draws the names of a widget's files from it
        self._names = names
        self._present = Present()
        self.answer = self._look
        self.told = visible_model(self._look({}))

    def _look(self, _: Mapping[str, Any]) -> Model:
        """Return the current content, whatever a view asks."""
        rows, seeds = self._present.look(find_generators(self._names)), recent_seeds()
        seeded = f"last seed: {seeds[0]}" if seeds else "no seed set yet"
        return {
            "say": "alone",
            "now": now_model(rows, {}),
            "settings": settings_model(report() if has_torch() else None),
            "alerts": [[str(alert), alert.instead] for alert in dict.fromkeys(alerts.recent)],
            "rule": f"{seeded} · as of {time.strftime('%H:%M:%S')}",
        }

    def __repr__(self) -> str:
        status = SeedStatus.read("", find_generators(self._names))
        return f"{status.text()}\n\n{report().headline if has_torch() else NO_TORCH}"
