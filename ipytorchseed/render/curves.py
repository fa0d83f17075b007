"""Plots series of numbers and their difference, as inline SVG and as text."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.render.view import fill
from ipytorchseed.why.explanation import Change

Series = Sequence[float]
Pair = tuple[Series, Series]
Ends = tuple[float, float]


_MOST_SERIES = 3

# The least and the greatest length of a plotted series. A longer one is data, not a history.
_SHORTEST, _LONGEST = 5, 2_000

# Series that agree to this many significant digits are plotted once: one may be the other, printed.
_DIGITS = 4

# The maximum number of columns of numbers that are detected in printed lines.
_COLUMNS = 8

# Names of metrics, which are plotted first.
_MEASURES = lazy_pattern(r"(?i)loss|acc|err|score|metric|hist|reward|auc|f1|mse|mae|perplexity")


def charted(changed: Sequence[Change]) -> list[tuple[str, Pair]]:
    """Choose the series to plot: at most three, and each curve once.

    Series of whole numbers are not plotted: they are counters or labels. Each column of printed
    lines is a separate series.

    Args:
        changed: The differences between two results.

    Returns:
        The name of each series, and its numbers before and after.
    """
    once: dict[object, tuple[str, Pair]] = {}
    for change in sorted(changed, key=lambda each: _MEASURES.search(each.name) is None):
        for name, pair in _series(change):
            if pair[0] != pair[1] and all(map(_is_history, pair)):
                rounded = tuple(tuple(f"{number:.{_DIGITS}g}" for number in each) for each in pair)
                once.setdefault(rounded, (name, pair))
    return [*once.values()][:_MOST_SERIES]


def _is_history(numbers: Series) -> bool:
    return _SHORTEST <= len(numbers) <= _LONGEST and not _is_whole(numbers)


def _series(change: Change) -> Iterator[tuple[str, Pair]]:
    """Yield the series of a change: the columns of printed text, else its numbers.

    Printed numbers without columns are a series if none of them is whole, as counters are.
    """
    before, after = change.before or (), change.after or ()
    if change.what != "stdout":
        yield change.name or change.what, (before, after)
        return
    columns = _columns(before)
    if columns != _columns(after) or (columns == 1 and any(_is_whole([each]) for each in before)):
        return
    for at in range(columns):
        name = "printed" if columns == 1 else f"printed, column {at + 1}"
        yield name, (before[at::columns], after[at::columns])


def _columns(numbers: Series) -> int:
    """Return how many numbers each line has if a column is a counter, else 1."""
    for width in range(2, _COLUMNS + 1):
        if len(numbers) % width == 0 and any(_counts(numbers[at::width]) for at in range(width)):
            return width
    return 1


def _counts(numbers: Series) -> bool:
    steps = {late - early for early, late in itertools.pairwise(numbers)}
    return len(numbers) > 2 and _is_whole(numbers) and len(steps) == 1 and steps != {0}  # noqa: PLR2004


def _is_whole(numbers: Series) -> bool:
    return all(number == number // 1 for number in numbers)


_BLOCKS = "▁▂▃▄▅▆▇█"
_MIDDLE = 0.43  # of a line that neither rises nor falls
_POINTS = 240
_WIDTH, _HEIGHT, _GAP = 420, 64, 22

# The width and height of a drawing of two curves and their difference.
BOX = _WIDTH, _HEIGHT + _GAP


def sparklines(before: Series, after: Series) -> list[str]:
    """Draw both series on one scale, and their difference, as three text lines."""
    return [sparkline(*each) for each in _with_difference(before, after)]


def sparkline(series: Series, low: float, high: float, columns: int = 60) -> str:
    """Draw a block for each number; if there are too many, for evenly spaced ones."""
    top = len(_BLOCKS) - 1
    return "".join(
        _BLOCKS[round(height_between(value, low, high) * top)] if math.isfinite(value) else "?"
        for value in _thin(series, columns)
    )


def draw_curves(before: Series, after: Series) -> list[str]:
    """Draw both series and their difference as three paths of SVG, in ``BOX``."""
    upper, lower = (_HEIGHT - 4, _HEIGHT - 8), (_HEIGHT + _GAP - 4, _GAP - 4)
    first, second, apart = _with_difference(before, after)
    return [_path(*first, *upper), _path(*second, *upper), _path(*apart, *lower)]


def _with_difference(before: Series, after: Series) -> list[tuple[Series, float, float]]:
    """Return both series and their difference, each with the ends of its scale."""
    apart = [abs(x - y) for x, y in zip(before, after, strict=False)]
    low, high = range_of([*before, *after])
    return [(before, low, high), (after, low, high), (apart, 0.0, range_of(apart)[1])]


def _thin(series: Series, most: int) -> Series:
    """Return at most ``most`` of the numbers, evenly spaced."""
    if len(series) <= most:
        return series
    return [series[index * len(series) // most] for index in range(most)]


def range_of(values: Series) -> Ends:
    """Return the smallest and the largest finite number."""
    finite = [value for value in values if math.isfinite(value)]
    return (min(finite), max(finite)) if finite else (0.0, 0.0)


def height_between(value: float, low: float, high: float) -> float:
    """Return the position of ``value`` between ``low`` and ``high``, from 0 to 1."""
    if high <= low:
        return _MIDDLE
    if math.isinf(high - low):  # also for finite numbers
        value, low, high = value / 4, low / 4, high / 4
    return (value - low) / (high - low)


def _path(series: Series, low: float, high: float, floor: float, height: float) -> str:
    values = _thin(series, _POINTS)
    step = (_WIDTH - 4) / max(len(values) - 1, 1)
    points = [
        f"{2 + index * step:.1f} {floor - height_between(value, low, high) * height:.1f}"
        for index, value in enumerate(values)
        if math.isfinite(value)
    ]
    return "M" + "L".join(points) if points else ""


# The columns of a bar chart in text. If there are more values, a histogram is drawn instead.
BARS = 12

_STRIP_WIDTH, _STRIP_HEIGHT, _EDGE = 220, 22, 6


def draw_bars(values: Sequence[float | None]) -> str:
    """Draw a bar for each value, or a histogram if there are many values.

    Args:
        values: The values. A missing value is None, and drawn as a cross.
    """
    known = [value for value in values if value is not None and math.isfinite(value)]
    low, high = range_of(known)
    if len(values) <= BARS:
        drawn = sparkline([math.nan if each is None else each for each in values], low, high, BARS)
        return "".join("×" if x is None else bar for x, bar in zip(values, drawn, strict=True))
    counts = [0] * BARS
    for value in known:
        counts[min(int(height_between(value, low, high) * BARS), BARS - 1)] += 1
    drawn = sparkline(counts, 0, max(counts), BARS)
    return "".join(bar if count else " " for count, bar in zip(counts, drawn, strict=True))


def strip_svg(
    values: Sequence[float | None], mean: float, interval: Ends | None, before: Series | None = None
) -> str:
    """Draw a point for each value, the mean, its interval, and earlier values above.

    Returns:
        An ``svg`` element without scripts and without text from the user.
    """
    now = [value for value in values if value is not None and math.isfinite(value)]
    then = [value for value in before or () if math.isfinite(value)]
    ends = interval if interval is not None and all(map(math.isfinite, interval)) else (mean, mean)
    low, high = range_of([*now, *then, *ends])

    def across(value: float) -> str:
        return f"{_EDGE + height_between(value, low, high) * (_STRIP_WIDTH - 2 * _EDGE):.1f}"

    places = {"now": [*map(across, now)], "then": [*map(across, then)], "mean": across(mean)}
    places["ends"] = [*map(across, ends)]
    return fill("strip", width=_STRIP_WIDTH, height=_STRIP_HEIGHT, **places)
