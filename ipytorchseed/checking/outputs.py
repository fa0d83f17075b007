"""Compares the outputs of two runs of a cell, without what varies by nature."""

from __future__ import annotations

import base64
import binascii
import io
import json
import re
from collections.abc import Callable, Container, Mapping, Sequence
from functools import reduce
from typing import Any

from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.entropy import ADDRESS
from ipytorchseed.session import noise
from ipytorchseed.session.noise import STAMP, is_markup, without_noise
from ipytorchseed.session.outputs import text_value
from ipytorchseed.why.explanation import Change
from ipytorchseed.why.value_changes import how_far

Outputs = Sequence[Mapping[str, Any]]
Pixels = tuple[tuple[int, int], bytes]


_BAR = lazy_pattern(r"\d%\|.*\||\dit \[")  # of a line
_CURSOR = lazy_pattern(r"\x1b\[\d*[ABCDK]")
_COLOUR = lazy_pattern(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b\x07]{0,4096}(?:\x1b\\|\x07)")  # or a link

_OURS = lazy_pattern(r"^ipytorchseed: .*\n?", re.MULTILINE)
"""Our own messages on standard error, which depend on how busy the machine is."""

_ADDRESS_OF = lazy_pattern(r"\bdata_ptr\b|\b__array_interface__\b|\.ctypes\b|\baddressof\b")
"""Code that reads the address of memory, besides ``id``."""

WIDGET = "application/vnd.jupyter.widget-"
STREAMS = ("stdout", "stderr")


def compare_outputs(before: Outputs, after: Outputs, *, timed: bool = False) -> tuple[Change, ...]:
    """Compare the outputs of two runs of a cell.

    Addresses, execution counts, ids of widgets and of HTML elements, progress bars and the timings
    of ``%time`` make no difference; nor does how printed text was cut into pieces.

    Args:
        before: The outputs of the earlier run, as nbformat has them.
        after: Those of the later one.
        timed: Whether the cell reads a clock; differences in printed times are then ignored.

    Returns:
        The differences.
    """
    changes = []
    for name in STREAMS:
        texts = [stream_text(outputs, name, timed=timed) for outputs in (before, after)]
        if texts[0] != texts[1]:
            changes.append(Change(name, "", _text_detail(*texts)))
    shown = [[each for each in outputs if "data" in each] for outputs in (before, after)]
    if len(shown[0]) != len(shown[1]):
        changes.append(Change("display", "", f"{len(shown[0])} and {len(shown[1])} shown"))
    else:
        for earlier, later in zip(*shown, strict=True):
            change = _compare_bundles(earlier, later, timed=timed)
            changes += [change] if change is not None else []
    errors = [error_text(outputs) for outputs in (before, after)]
    if errors[0] != errors[1]:
        detail = " → ".join((error or "no error").removesuffix(":") for error in errors)
        changes.append(Change("error", "", detail))
    return tuple(changes)


def tells_addresses(source: str, builtins: Container[str]) -> bool:
    """Tell whether a cell reads the address of an object or of memory.

    Args:
        source: The cell's text.
        builtins: The builtins that its code looks up, also in functions that it calls.
    """
    return ADDRESS in builtins or _ADDRESS_OF.search(source) is not None


def without_addresses(outputs: Outputs) -> Outputs:
    """Return outputs without the whole numbers in their texts that may be addresses."""
    return [*map(_without_addresses, outputs)]


def _without_addresses(output: Mapping[str, Any]) -> Mapping[str, Any]:
    if "data" in output:
        data = {
            kind: noise.without_addresses(joined(shown)) if kind.startswith("text/") else shown
            for kind, shown in output["data"].items()
        }
        return {**output, "data": data}
    text = output.get("text")
    return output if text is None else {**output, "text": noise.without_addresses(joined(text))}


def stream_text(outputs: Outputs, name: str, *, timed: bool) -> str:
    """Return all that was printed to a stream, without what varies by nature."""
    text = "".join(
        joined(each["text"])
        for each in outputs
        if each["output_type"] == "stream" and each["name"] == name
    )
    if name == "stderr":
        text = STAMP.sub("", _OURS.sub("", text))  # when a line was logged
    if _CURSOR.search(text):  # bars above bars, drawn as often as there was time for
        lines = _CURSOR.sub("", text.replace("\r", "\n")).split("\n")
        text = "\n".join(each for each in lines if each.strip() and not _BAR.search(each)).strip()
    return _clean(text, timed=timed)


def _clean(text: str, *, timed: bool = False) -> str:
    return without_noise(_COLOUR.sub("", text), timed=timed)


def error_text(outputs: Outputs) -> str:
    """Return the error that was shown, without the traceback: its numbers count runs."""
    said = [
        f"{each['ename']}: {each['evalue']}" for each in outputs if each["output_type"] == "error"
    ]
    return _clean("\n".join(said))


def _compare_bundles(
    before: Mapping[str, Any], after: Mapping[str, Any], *, timed: bool
) -> Change | None:
    """Compare two displays or two results, MIME type by MIME type; return the first difference."""
    pairs = [
        {kind: data for kind, data in each["data"].items() if not kind.startswith(WIDGET)}
        for each in (before, after)
    ]
    what = "result" if after["output_type"] == "execute_result" else "display"
    if pairs[0].keys() != pairs[1].keys():
        detail = " → ".join(", ".join(sorted(pair)) or "nothing" for pair in pairs)
        return Change(what, "", detail)
    for kind in sorted(pairs[1]):
        clean = cleaner(kind, timed=timed)
        data = [clean(pair[kind]) for pair in pairs]
        if data[0] != data[1]:
            return Change(what, kind, _detail(kind, *data))
    return None


def cleaner(kind: str, *, timed: bool) -> Callable[[Any], Any]:
    """Return the function that removes from data of a MIME type what varies by nature.

    Args:
        kind: The MIME type.
        timed: Whether the cell reads a clock.
    """
    if kind.startswith("image/") and kind != "image/svg+xml":
        return _pixels
    if kind.startswith("text/") and not is_markup(kind):
        return lambda data: _clean(joined(data), timed=timed)
    remove = noise.cleaner(kind)
    if remove is not None:
        return lambda data: remove(joined(data))
    return lambda data: without_noise(
        data if isinstance(data, str) else json.dumps(data, sort_keys=True)
    )


def _pixels(data: Any) -> object:  # noqa: ANN401 -- base64, as a string or its lines
    """Return size and pixels of an image, without its metadata; its bytes if it is no image."""
    from PIL import Image

    try:
        content = base64.b64decode(joined(data))
    except (binascii.Error, ValueError):
        return joined(data)
    try:
        with Image.open(io.BytesIO(content)) as image:
            return image.size, image.convert("RGBA").tobytes()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return content


def _detail(kind: str, before: Any, after: Any) -> str:  # noqa: ANN401 -- as the cleaner made them
    if isinstance(before, tuple) and isinstance(after, tuple):
        return say_pixels(kind, before, after)
    if kind == "text/plain":
        return _text_detail(before, after)
    return f"{kind} with other content"


def say_pixels(kind: str, before: Pixels, after: Pixels, level: int = 0) -> str:
    """Say how many pixels of two images differ; return an empty text if none does.

    Args:
        kind: Their MIME type.
        before: The earlier image, as ``cleaner`` made it.
        after: The later one.
        level: The largest difference of a pixel's colours, of 255, that counts as none.
    """
    from PIL import Image, ImageChops

    (size, old), (new_size, new) = before, after
    if size != new_size:
        sizes = " → ".join(f"{width} x {height}" for width, height in (size, new_size))
        return f"{kind}: {sizes} pixels"
    images = [Image.frombytes("RGBA", size, data) for data in (old, new)]
    largest = reduce(ImageChops.lighter, ImageChops.difference(*images).split())
    moved = sum(largest.histogram()[level + 1 :])
    return f"{kind}: {moved:,} of {size[0] * size[1]:,} pixels differ" if moved else ""


def _text_detail(before: str, after: str) -> str:
    if not before or not after:
        return "nothing → something" if after else "something → nothing"
    return how_far(text_value(before), text_value(after))


def joined(data: Any) -> str:  # noqa: ANN401 -- nbformat allows a string or its lines
    """Return a text that a notebook holds as one string or as lines; of other data, its JSON."""
    if isinstance(data, list):
        return "".join(map(str, data))
    return data if isinstance(data, str) else json.dumps(data, sort_keys=True)
