"""Two series of numbers and how far they are apart, as inline SVG and in text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from msgspec import Struct

from ipytorchseed.render.html import fill

if TYPE_CHECKING:
    from collections.abc import Sequence

_BLOCKS = "▁▂▃▄▅▆▇█"
_MIDDLE = 0.43  # of a line that neither rises nor falls
_POINTS = 240
_WIDTH, _HEIGHT, _GAP = 420, 64, 22


def sparklines(before: Sequence[float], after: Sequence[float], columns: int = 60) -> list[str]:
    """Draw both series on one scale, and their difference on its own, as lines of blocks."""
    apart = [abs(x - y) for x, y in zip(before, after, strict=False)]
    both = range_of([*before, *after])
    return [
        sparkline(before, *both, columns),
        sparkline(after, *both, columns),
        sparkline(apart, 0.0, range_of(apart)[1], columns),
    ]


def sparkline(series: Sequence[float], low: float, high: float, columns: int) -> str:
    """Draw a block for each number, or of more than fit for some of them."""
    values = _thin(series, columns)
    top = len(_BLOCKS) - 1
    return "".join(
        _BLOCKS[round(height_between(value, low, high) * top)] if math.isfinite(value) else "?"
        for value in values
    )


class Curves(Struct, frozen=True):
    """Two series as paths of SVG, in a box of ``width`` by ``height``.

    Attributes:
        before: The earlier series.
        after: The later series, in the same scale.
        apart: Their difference, below both.
    """

    before: str
    after: str
    apart: str
    width: int = _WIDTH
    height: int = _HEIGHT + _GAP


def draw_curves(before: Sequence[float], after: Sequence[float]) -> Curves:
    """Draw both series, and below them their difference."""
    first, second = _thin(before, _POINTS), _thin(after, _POINTS)
    low, high = range_of([*first, *second])
    apart = _thin([abs(x - y) for x, y in zip(before, after, strict=False)], _POINTS)
    return Curves(
        before=_path(first, low, high, _HEIGHT - 4, _HEIGHT - 8),
        after=_path(second, low, high, _HEIGHT - 4, _HEIGHT - 8),
        apart=_path(apart, 0.0, max(range_of(apart)[1], 0.0), _HEIGHT + _GAP - 4, _GAP - 4),
    )


def curves_svg(before: Sequence[float], after: Sequence[float]) -> str:
    """Draw both series, and below them their difference.

    Returns:
        An ``svg`` element that has no script and no text of the user's.
    """
    return fill("curves", drawn=draw_curves(before, after))


def _thin(series: Sequence[float], most: int) -> list[float]:
    """Take at most so many of the numbers, evenly."""
    if len(series) <= most:
        return [*series]
    return [series[index * len(series) // most] for index in range(most)]


def range_of(values: Sequence[float]) -> tuple[float, float]:
    """Return the smallest and the largest of the numbers that are finite."""
    finite = [value for value in values if math.isfinite(value)]
    return (min(finite), max(finite)) if finite else (0.0, 0.0)


def height_between(value: float, low: float, high: float) -> float:
    """Return where a number stands between two others, from 0 to 1."""
    if high <= low:
        return _MIDDLE
    if math.isinf(high - low):  # though both are finite
        value, low, high = value / 4, low / 4, high / 4
    return (value - low) / (high - low)


def _path(values: Sequence[float], low: float, high: float, floor: float, height: float) -> str:
    if not values:
        return ""
    step = (_WIDTH - 4) / max(len(values) - 1, 1)
    points = [
        f"{2 + index * step:.1f} {floor - height_between(value, low, high) * height:.1f}"
        for index, value in enumerate(values)
        if math.isfinite(value)
    ]
    return "M" + "L".join(points)
