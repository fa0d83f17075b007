"""Removes the parts of a cell's outputs that differ in every run."""

from __future__ import annotations

import base64
import copy
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from html import unescape
from typing import Any, NamedTuple

from msgspec import Struct

from ipytorchseed.checking.notebook import Cell, complete
from ipytorchseed.ledger.records import Run
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.entropy import ADDRESS, reads_clock
from ipytorchseed.reads.own_lines import MARK, is_inspection
from ipytorchseed.reads.shell import prints_no_result
from ipytorchseed.session import noise
from ipytorchseed.session.noise import STAMP, is_markup, without_noise

Outputs = Sequence[Mapping[str, Any]]

# The earlier and the later outputs of a cell.
Pair = tuple[Outputs, Outputs]


class Pixels(NamedTuple):
    """The size of an image in pixels, and their colours with transparency."""

    size: tuple[int, int]
    data: bytes


_BAR = lazy_pattern(r"\d%\|.*\||\dit \[")  # a line with a progress bar
_CURSOR = lazy_pattern(r"\x1b\[\d*[ABCDK]")
_COLOUR = lazy_pattern(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b\x07]{0,4096}(?:\x1b\\|\x07)")  # or a link

# Our own messages on standard error, which depend on how busy the machine is.
_OURS = lazy_pattern(r"^ipytorchseed: .*\n?", re.MULTILINE)

WIDGET = "application/vnd.jupyter.widget-"
STREAMS = ("stdout", "stderr")


class Shown(Struct):
    """What a cell shows, without parts that differ in every run.

    Attributes:
        texts: What was printed to each stream, and the error without its traceback, which contains
            run numbers.
        displays: ``display`` or ``result``, with the data by MIME type; images as their pixels.
    """

    texts: dict[str, str]
    displays: list[tuple[str, dict[str, object]]]

    def forget_printed(self) -> None:
        """Remove what was printed."""
        self.texts |= dict.fromkeys(STREAMS, "")


# Code that reads the address of memory, other than ``id``.
_ADDRESS_OF = lazy_pattern(r"\bdata_ptr\b|\b__array_interface__\b|\.ctypes\b|\baddressof\b")


def clean_cell(cell: Cell, outputs: Outputs, run: Run | None) -> Shown:
    """Return what a cell shows that counts as a result.

    Args:
        cell: The cell.
        outputs: Its outputs.
        run: The record of the cell's run; None if there is none.
    """
    if is_inspection(cell.source):
        return clean([])  # our own reports are not results
    places = timed = False
    if run is not None:
        places = ADDRESS in run.missing or _ADDRESS_OF.search(cell.source) is not None
        timed = reads_clock(run.nondeterministic_calls)
    shown = clean(outputs, timed=timed, places=places)
    if prints_no_result(cell.source):
        shown.forget_printed()
    return shown


def clean(outputs: Outputs, *, timed: bool = False, places: bool = False) -> Shown:
    """Return what outputs show, without parts that differ in every run.

    These are addresses, execution counts, ids of widgets and HTML elements, progress bars, timings
    of ``%time``, and how printed text was split.

    Args:
        outputs: The outputs, in nbformat's form.
        timed: Whether the cell reads a clock; printed times are then removed.
        places: Whether the cell reads addresses; integers that may be addresses are then removed.
    """
    outputs = [each for each in outputs if MARK not in (each.get("metadata") or {})]  # ours
    errors = [each for each in outputs if each["output_type"] == "error"]
    texts = {name: stream_text(outputs, name, timed=timed) for name in STREAMS}
    texts["error"] = _clean("\n".join(f"{each['ename']}: {each['evalue']}" for each in errors))
    displays = []
    for each in outputs:
        if "data" in each:
            what = str(each["output_type"]).removeprefix("execute_").removesuffix("_data")
            kinds = [kind for kind in each["data"] if WIDGET not in kind]
            shown = {kind: _clean_data(kind, each["data"][kind], timed) for kind in kinds}
            displays.append((what, shown))
    if places:
        texts = {name: noise.without_addresses(text) for name, text in texts.items()}
        for _, shown in displays:
            for kind in shown:
                if kind.startswith("text/"):
                    shown[kind] = noise.without_addresses(str(shown[kind]))
    return Shown(texts, displays)


def stream_text(outputs: Outputs, name: str, *, timed: bool) -> str:
    """Return the text printed to a stream, without parts that differ in every run."""
    printed = [it for it in outputs if it["output_type"] == "stream" and it["name"] == name]
    text = "".join(joined(each["text"]) for each in printed)
    if name == "stderr":
        text = STAMP.sub(noise.MASK, _OURS.sub("", text))  # the time at which a line was logged
    if _CURSOR.search(text):  # nested progress bars, drawn as often as time allows
        lines = _CURSOR.sub("", text.replace("\r", "\n")).split("\n")
        text = "\n".join(each for each in lines if each.strip() and not _BAR.search(each)).strip()
    return _clean(text, timed=timed)


def _clean(text: str, *, timed: bool = False) -> str:
    return without_noise(_COLOUR.sub("", text), timed=timed)


def _clean_data(kind: str, data: Any, timed: bool) -> object:  # noqa: ANN401, FBT001 -- as nbformat has it
    if kind.startswith("image/") and kind != "image/svg+xml":
        return _pixels(data)
    if kind.startswith("text/") and not is_markup(kind):
        return _clean(joined(data), timed=timed)
    remove = noise.cleaner(kind)
    return without_noise(_as_json(data)) if remove is None else remove(joined(data))


def _pixels(data: Any) -> Pixels | bytes:  # noqa: ANN401 -- base64, as a string or its lines
    """Return the size and pixels of an image, or its text if it cannot be read."""
    from PIL import Image

    text = "".join(joined(data).split())
    try:
        with Image.open(io.BytesIO(base64.b64decode(text))) as image:
            return Pixels(image.size, image.convert("RGBA").tobytes())
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return text.encode(errors="surrogatepass")


def say_pixels(kind: str, before: Pixels, after: Pixels, level: int = 0) -> str:
    """Describe how many pixels of two images differ; empty if none do.

    Args:
        kind: The MIME type of both.
        before: The earlier image.
        after: The later image.
        level: The largest difference of a pixel's colours, out of 255, that is ignored.
    """
    from PIL import Image, ImageChops

    if before.size != after.size:
        sizes = " → ".join(f"{each.size[0]} x {each.size[1]}" for each in (before, after))
        return f"{kind}: {sizes} pixels"
    images = [Image.frombytes("RGBA", *each) for each in (before, after)]
    largest = reduce(ImageChops.lighter, ImageChops.difference(*images).split())
    colours = largest.histogram()
    moved = sum(colours[level + 1 :])
    return f"{kind}: {moved:,} of {sum(colours):,} pixels differ" if moved else ""


def joined(data: Any) -> str:  # noqa: ANN401 -- nbformat allows a string or its lines
    """Return a text, stored as a string or as lines, in one piece; else JSON."""
    return "".join(map(str, data)) if isinstance(data, list) else _as_json(data)


def _as_json(data: Any) -> str:  # noqa: ANN401 -- as above
    return data if isinstance(data, str) else json.dumps(data, sort_keys=True)


BLANK = lazy_pattern(r"\s+")

# Markup, and what a reader sees instead.
_MARKUP = [
    (BLANK, " "),
    (lazy_pattern(r"(?i)<(script|style|head|title|template)\b(?:(?!</?\1\b).)*</\1 ?>"), ""),
    (lazy_pattern(r"<!--(?:(?!-->|<!--).)*-->"), ""),
    (lazy_pattern(r"(?i)</?(?:a|b|code|em|i|small|span|strong|sub|sup|u)\b[^<>]*>"), ""),
    (lazy_pattern(r"(?i)</?t[dh]\b[^<>]*>"), "  "),
    (lazy_pattern(r"(?i)<[a-z/!][^<>]*>"), "\n"),
]


def read_html(html: str) -> str:
    """Return the visible text of HTML, with a line for each row of a table."""
    for pattern, instead in _MARKUP:
        html = pattern.sub(instead, html)
    lines = (" ".join(line.split()) for line in unescape(html).split("\n"))
    return "\n".join(line for line in lines if line)


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
    yield from _values(model, _model_name(name, states))
    for output in complete(copy.deepcopy(state.get("outputs"))):
        yield output
        inside += views_of([output])
    for each in inside:
        yield from _contents(each, states, above)


def _values(model: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    """Yield what a front end shows as a widget's value.

    A file may leave out defaults.
    """
    state = _dict(model.get("state"))
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
