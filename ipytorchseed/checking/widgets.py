"""Reads what widgets show from their states, as outputs of cells."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from typing import Any

from ipytorchseed.checking.notebook import complete
from ipytorchseed.checking.outputs import WIDGET, Outputs

# Widgets by their ids, in the form of a notebook's file.
States = Mapping[str, Mapping[str, Any]]

_VIEW, _STATE = f"{WIDGET}view+json", f"{WIDGET}state+json"
_REFERENCE = "IPY_MODEL_"
_BARS = frozenset({"FloatProgressModel", "IntProgressModel"})

# Parts of a state that a front end shows as the widget's value.
_RESULTS = "value", "index"


def states_of(metadata: Mapping[str, Any]) -> States:
    """Return the widgets in a notebook's metadata; some front ends save none."""
    states = _dict(_dict(_dict(metadata.get("widgets")).get(_STATE)).get("state"))
    return {name: _dict(state) for name, state in states.items()}


def views_of(outputs: Outputs) -> list[str]:
    """Return the ids of the widgets that outputs display."""
    shown = (_dict(_dict(each.get("data")).get(_VIEW)).get("model_id") for each in outputs)
    return [each for each in shown if isinstance(each, str)]


class Views:
    """The widgets that were displayed so far, and what each showed last."""

    def __init__(self) -> None:
        self._shown: dict[str, list[Mapping[str, Any]]] = {}

    def changed(self, outputs: Outputs, states: States) -> Outputs:
        """Return what is shown by the widgets that a cell displayed or changed.

        Args:
            outputs: The outputs of the cell.
            states: The widgets after the cell.
        """
        found: list[Mapping[str, Any]] = []
        for name in dict.fromkeys([*self._shown, *views_of(outputs)]):
            now = [*_contents(name, states, frozenset())]
            found += now if now != self._shown.get(name, []) else []
            self._shown[name] = now
        return found


def _contents(name: str, states: States, above: frozenset[str]) -> Iterator[Mapping[str, Any]]:
    """Yield what a widget and the widgets inside it show, except progress bars."""
    if name not in states or name in above:
        return
    model, above = states[name], above | {name}
    state = _dict(model.get("state"))
    inside = [
        each.removeprefix(_REFERENCE) for each in _list(state.get("children")) if type(each) is str
    ]
    if any(_model_name(each, states) in _BARS for each in (name, *inside)):
        return
    yield from _values(_model_name(name, states), state, model)
    for output in complete(copy.deepcopy(state.get("outputs"))):
        yield output
        inside += views_of([output])
    for each in inside:
        yield from _contents(each, states, above)


def _values(
    name: str, state: Mapping[str, Any], model: Mapping[str, Any]
) -> Iterator[Mapping[str, Any]]:
    """Yield what a front end shows as a widget's value.

    A file may leave out defaults.
    """
    kind = "text/html" if name.startswith("HTML") else "text/plain"
    shown = [(kind, state[each]) for each in _RESULTS if state.get(each)]
    for buffer in map(_dict, _list(model.get("buffers"))):
        if buffer.get("path") == ["value"] and "format" in state:
            shown = [(f"image/{state['format']}", buffer.get("data"))]
    for kind, value in shown:
        text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
        yield {"output_type": "display_data", "data": {kind: text}, "metadata": {}}


def _model_name(name: str, states: States) -> str:
    return str(states.get(name, {}).get("model_name"))


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
