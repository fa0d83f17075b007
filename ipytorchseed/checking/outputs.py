"""Removes the parts of a cell's outputs that differ in every run."""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Container, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.entropy import ADDRESS
from ipytorchseed.reads.own_lines import MARK
from ipytorchseed.session import noise
from ipytorchseed.session.noise import STAMP, is_markup, without_noise

Outputs = Sequence[Mapping[str, Any]]


class Pixels(NamedTuple):
    """The size of an image in pixels, and their colours with transparency."""

    size: tuple[int, int]
    data: bytes


_BAR = lazy_pattern(r"\d%\|.*\||\dit \[")  # a line with a progress bar
_CURSOR = lazy_pattern(r"\x1b\[\d*[ABCDK]")
_COLOUR = lazy_pattern(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b\x07]{0,4096}(?:\x1b\\|\x07)")  # or a link

# Our own messages on standard error, which depend on how busy the machine is.
_OURS = lazy_pattern(r"^ipytorchseed: .*\n?", re.MULTILINE)

# Code that reads the address of memory, other than ``id``.
_ADDRESS_OF = lazy_pattern(r"\bdata_ptr\b|\b__array_interface__\b|\.ctypes\b|\baddressof\b")

WIDGET = "application/vnd.jupyter.widget-"
STREAMS = ("stdout", "stderr")


def tells_addresses(source: str, builtins: Container[str]) -> bool:
    """Return whether a cell reads the address of an object or of memory.

    Args:
        source: The cell's text.
        builtins: The builtins that the cell's code looks up, also in functions that it calls.
    """
    return ADDRESS in builtins or _ADDRESS_OF.search(source) is not None


def without_ours(outputs: Outputs) -> Outputs:
    """Return outputs without our own reports."""
    return [each for each in outputs if MARK not in (each.get("metadata") or {})]


def without_addresses(outputs: Outputs) -> Outputs:
    """Return outputs without the integers in their texts that may be addresses."""
    return [*map(_without_addresses, outputs)]


def _without_addresses(output: Mapping[str, Any]) -> Mapping[str, Any]:
    if "text" in output:
        return {**output, "text": noise.without_addresses(joined(output["text"]))}
    data = {
        kind: noise.without_addresses(joined(shown)) if kind.startswith("text/") else shown
        for kind, shown in output.get("data", {}).items()
    }
    return {**output, "data": data} if data else output


def stream_text(outputs: Outputs, name: str, *, timed: bool) -> str:
    """Return the text printed to a stream, without parts that differ in every run."""
    text = "".join(
        joined(each["text"])
        for each in outputs
        if each["output_type"] == "stream" and each["name"] == name
    )
    if name == "stderr":
        text = STAMP.sub(noise.MASK, _OURS.sub("", text))  # the time at which a line was logged
    if _CURSOR.search(text):  # nested progress bars, drawn as often as time allows
        lines = _CURSOR.sub("", text.replace("\r", "\n")).split("\n")
        text = "\n".join(each for each in lines if each.strip() and not _BAR.search(each)).strip()
    return _clean(text, timed=timed)


def _clean(text: str, *, timed: bool = False) -> str:
    return without_noise(_COLOUR.sub("", text), timed=timed)


def error_text(outputs: Outputs) -> str:
    """Return the shown error without its traceback, which contains run numbers."""
    said = [
        f"{each['ename']}: {each['evalue']}" for each in outputs if each["output_type"] == "error"
    ]
    return _clean("\n".join(said))


def clean(kind: str, data: Any, *, timed: bool) -> object:  # noqa: ANN401 -- as nbformat has it
    """Return MIME data without parts that differ in every run; an image as pixels.

    Args:
        kind: The MIME type.
        data: The data.
        timed: Whether the cell reads a clock.
    """
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
    """Return a text that is stored as one string or as lines; other data as JSON."""
    return "".join(map(str, data)) if isinstance(data, list) else _as_json(data)


def _as_json(data: Any) -> str:  # noqa: ANN401 -- as above
    return data if isinstance(data, str) else json.dumps(data, sort_keys=True)
