"""Series of numbers as inline SVG and in text: which to plot, and how far they differ."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.render.view import fill
from ipytorchseed.why.explanation import Change

Series = Sequence[float]
Pair = tuple[Series, Series]


_MOST_SERIES = 3
_SHORTEST, _LONGEST = 5, 2_000
"""Numbers of a series that is plotted: data have more, histories of training have not."""

_DIGITS = 4
"""Significant digits in which two series are the same curve: one of them may be printed."""

_COLUMNS = 8
"""Numbers in a printed line that are distinguished."""

_MEASURES = lazy_pattern(
    r"loss|acc|err|score|metric|hist|reward|auc|f1|mse|mae|perplexity", re.IGNORECASE
)
"""Names of what is measured, which come first."""


def charted(changed: Sequence[Change]) -> list[tuple[str, Pair]]:
    """Choose the series to plot, each curve once and at most three.

    Counters and labels, which are whole numbers, are not plotted; of what was printed line after
    line, each column is a separate series.

    Args:
        changed: In what two results differ.

    Returns:
        Name of each series, and its numbers before and after.
    """
    found = [
        (name, pair)
        for change in changed
        if change.before and change.after
        for name, pair in _series(change, change.before, change.after)
        if all(_SHORTEST <= len(each) <= _LONGEST and not _is_whole(each) for each in pair)
        and pair[0] != pair[1]
    ]
    found.sort(key=lambda item: _MEASURES.search(item[0]) is None)
    once = {tuple(map(_rounded, pair)): (name, pair) for name, pair in reversed(found)}
    return [each for each in found if each in once.values()][:_MOST_SERIES]


def _rounded(series: Series) -> tuple[str, ...]:
    return tuple(f"{number:.{_DIGITS}g}" for number in series)


def _series(change: Change, before: Series, after: Series) -> Iterator[tuple[str, Pair]]:
    """Return the series of a change: the columns of what was printed, else its numbers.

    What was printed in lines of unequal length, with a counter in it, is no series.
    """
    if change.what != "stdout":
        yield change.name or change.what, (before, after)
        return
    columns = _columns(before)
    if columns != _columns(after) or (columns == 1 and _counts_in_between(before)):
        return
    for at in range(columns):
        name = "printed" if columns == 1 else f"printed, column {at + 1}"
        yield name, (before[at::columns], after[at::columns])


def _columns(numbers: Series) -> int:
    """Return how many numbers each line had: the first, or another, counts from line to line."""
    for width in range(2, _COLUMNS + 1):
        if len(numbers) % width == 0 and any(_counts(numbers[at::width]) for at in range(width)):
            return width
    return 1


def _counts(numbers: Series) -> bool:
    steps = {late - early for early, late in itertools.pairwise(numbers)}
    return len(numbers) > 2 and _is_whole(numbers) and len(steps) == 1 and steps != {0}  # noqa: PLR2004


def _counts_in_between(numbers: Series) -> bool:
    """Return whether three whole numbers in a row, of those among others, count."""
    whole = [number for number in numbers if number == number // 1]
    return any(_counts(whole[at : at + 3]) for at in range(len(whole) - 2))


def _is_whole(numbers: Series) -> bool:
    return all(number == number // 1 for number in numbers)


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


BARS = 12
"""Columns of text. So many seeds have a bar each; of more, a bar counts those of near values."""

_STRIP_WIDTH, _STRIP_HEIGHT, _EDGE = 220, 22, 6


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
        return f"{_EDGE + height_between(value, low, high) * (_STRIP_WIDTH - 2 * _EDGE):.1f}"

    return fill(
        "strip",
        width=_STRIP_WIDTH,
        height=_STRIP_HEIGHT,
        now=[*map(across, now)],
        then=[*map(across, then)],
        ends=[*map(across, ends)],
        mean=across(mean),
    )
