"""The values of a number, one for each seed: as bars of text, and as a strip plot of inline SVG."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ipytorchseed.render.curves import height_between, range_of, sparkline

if TYPE_CHECKING:
    from collections.abc import Sequence

BARS = 12
"""Columns of text. So many seeds have a bar each; of more, a bar counts those of near values."""

_WIDTH, _HEIGHT, _EDGE = 220, 22, 6


def draw_bars(values: Sequence[float | None]) -> str:
    """Draw a bar for each value, or how often values occur from the least to the most.

    Args:
        values: None where there is none, which is a cross.
    """
    known = [value for value in values if value is not None and math.isfinite(value)]
    low, high = range_of(known)
    if len(values) <= BARS:
        drawn = sparkline([math.nan if each is None else each for each in values], low, high, BARS)
        return "".join(
            "×" if each is None else bar for each, bar in zip(values, drawn, strict=True)
        )
    counts = [0] * BARS
    for value in known:
        counts[min(int(height_between(value, low, high) * BARS), BARS - 1)] += 1
    drawn = sparkline(counts, 0, max(counts), BARS)
    return "".join(bar if count else " " for count, bar in zip(counts, drawn, strict=True))


def strip_svg(
    values: Sequence[float | None],
    mean: float,
    interval: tuple[float, float] | None,
    before: Sequence[float] | None = None,
) -> str:
    """Draw a point for each value, the mean and its interval; above them the values of before.

    Returns:
        An ``svg`` element that has no script and no text of the user's.
    """
    now = [value for value in values if value is not None and math.isfinite(value)]
    then = [value for value in before or () if math.isfinite(value)]
    ends = interval if interval is not None and all(map(math.isfinite, interval)) else (mean, mean)
    low, high = range_of([*now, *then, *ends])

    def across(value: float) -> str:
        return f"{_EDGE + height_between(value, low, high) * (_WIDTH - 2 * _EDGE):.1f}"

    def points(series: Sequence[float], row: float, name: str, colour: str) -> str:
        return "".join(
            f'<circle class="{name}" cx="{across(value)}" cy="{row}" r="3.5" stroke="{colour}"/>'
            for value in series
        )

    rows = _HEIGHT * (2 if then else 1)
    row = rows - _HEIGHT / 2
    left, right, middle = across(ends[0]), across(ends[1]), across(mean)
    return (
        f'<svg role="img" width="{_WIDTH}" height="{rows}" viewBox="0 0 {_WIDTH} {rows}"'
        ' fill="none" stroke-width="1.4" style="max-width:none">'
        f"<title>each seed, the mean and its interval{', the other study above' * bool(then)}"
        f'</title><path d="M{left} {row}H{right}" stroke="currentColor" stroke-width="6"'
        f' opacity=".2"/><path d="M{middle} {row - 8}v16" stroke="currentColor"/>'
        f"{points(then, _HEIGHT / 2, 'its-then', 'hsl(210 70% 50%)')}"
        f"{points(now, row, 'its-later', 'hsl(28 85% 50%)')}</svg>"
    )
