"""Writes single values: numbers, digests, JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import Any

from ipytorchseed.determinism.flag import Unreadable
from ipytorchseed.render.text import visible

# Hex digits of a digest that are shown to people.
_SHORT = 8

# Hex digits that a chip shows. A chip is a coloured label for a state in HTML.
_CODE = 4


# Numbers of at least this size, or with more decimals than this, are written with an exponent.
_LARGE, _FINE = 1e7, 7


def write_value(value: object) -> str:
    """Write the value of a flag for a person: ``torch.float32`` is ``float32``."""
    if isinstance(value, Unreadable):
        return "?"
    if value is None:
        return "not set"
    if isinstance(value, tuple):
        return ", ".join(write_value(item) for item in value)
    return visible(value if isinstance(value, str) else str(value).removeprefix("torch."))


def pick(record: object, *names: str) -> dict[str, Any]:
    """Return attributes of a record by their names, for JSON."""
    return {name: getattr(record, name) for name in names}


def write_json(**told: object) -> str:
    """Write one line of JSON for other programs, starting with its schema's version."""
    return json.dumps({"schema": 1, **told})


def aligned(values: Sequence[float], spread: float | None) -> Callable[[float], str]:
    """Return a function that writes numbers, to two significant digits of the spread.

    Args:
        values: Some of the numbers.
        spread: How far the numbers differ; None if unknown.
    """
    size = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    if spread == 0:
        return lambda value: f"{value:.6g}"
    finest = spread if spread and math.isfinite(spread) else size / 100
    decimals = 1 - math.floor(math.log10(finest)) if finest else 0
    if size >= _LARGE or decimals > _FINE:
        return lambda value: f"{value:.3g}"
    return lambda value: f"{value:.{max(decimals, 0)}f}"


def short_digest(digest: str | None) -> str:
    """Shorten a digest for a person."""
    return digest[:_SHORT] if digest else "unknown"


def code(digest: str) -> str:
    """Shorten a digest for a chip; equal states have equal chips."""
    return digest[:_CODE]


def hue(digest: str) -> int:
    """Return the hue of a digest's chip, in degrees; equal states have equal hues.

    It is computed from digits that the chip's code does not show, so two states with the same code
    rarely have the same hue.
    """
    return int(digest[4:8], 16) % 360
