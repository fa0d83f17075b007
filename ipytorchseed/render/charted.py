"""Which series of numbers that changed a person would plot."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ipytorchseed.why.explanation import Change

    Series = Sequence[float]
    Pair = tuple[Series, Series]

_MOST = 3
_LONGEST = 2_000
"""Numbers of a series that is plotted: data have more, histories of training have not."""

_COLUMNS = 8
"""Numbers in a printed line that are told apart."""

_MEASURES = re.compile(
    r"loss|acc|err|score|metric|hist|reward|auc|f1|mse|mae|perplexity", re.IGNORECASE
)
"""Names of what is measured, which come first."""


def charted(changed: Sequence[Change]) -> list[tuple[str, Pair]]:
    """Choose the series to plot, at most three.

    Counters and labels, which are whole numbers, are not plotted; of what was printed line after
    line, each column is a series of its own.

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
        if all(1 < len(each) <= _LONGEST and not _is_whole(each) for each in pair)
        and pair[0] != pair[1]
    ]
    found.sort(key=lambda item: _MEASURES.search(item[0]) is None)
    return found[:_MOST]


def _series(change: Change, before: Series, after: Series) -> Iterator[tuple[str, Pair]]:
    """Return the series of a change: the columns of what was printed, else its numbers."""
    if change.what != "stdout":
        yield change.name or change.what, (before, after)
        return
    columns = _columns(before)
    if columns != _columns(after):
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


def _is_whole(numbers: Series) -> bool:
    return all(number == number // 1 for number in numbers)
