"""The values of a number, one for each seed: as bars of text, and as a strip plot of inline SVG."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ipytorchseed.render.curves import height_between, range_of, sparkline
from ipytorchseed.render.html import fill

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

    return fill(
        "strip",
        width=_WIDTH,
        height=_HEIGHT,
        now=[*map(across, now)],
        then=[*map(across, then)],
        ends=[*map(across, ends)],
        mean=across(mean),
    )
