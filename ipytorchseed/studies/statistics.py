"""Computes statistics of a number over seeds, with scipy."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ipytorchseed.errors import LookupFailure

# The confidence level of intervals.
LEVEL = 0.95

# With fewer pairs, no difference is significant: with 5 pairs, the two most extreme of 2**5 sign
# flips have a probability above ``1 - LEVEL``.
FEWEST = 6

# Up to this many pairs, all sign flips are counted (at most 65,536). For more pairs, 9,999 random
# flips are drawn.
_EXACT = 16


def scipy_stats() -> Any:  # noqa: ANN401 -- a module
    """Import ``scipy.stats``.

    Raises:
        LookupFailure: scipy is not installed.
    """
    try:
        with warnings.catch_warnings():  # the import adds filters; the user decides about those
            from scipy import stats
    except ImportError:
        msg = 'a study of seeds needs scipy: pip install "ipytorchseed[stats]"'
        raise LookupFailure(msg) from None
    return stats


class Summary(Struct, frozen=True):
    """Statistics of a number over seeds.

    Attributes:
        mean: The mean.
        std: The standard deviation with n - 1; None for one value.
        interval: Student's t interval of the mean; None for one value.
        least: The smallest value.
        most: The largest value.
    """

    mean: float
    std: float | None
    interval: tuple[float, float] | None
    least: float
    most: float


class Paired(Struct, frozen=True):
    """Statistics of a number before and after a change, paired by seed.

    Attributes:
        pairs: The number of seeds with a finite number in both studies.
        higher: The number of seeds under which the number is higher after the change.
        lower: The number of seeds under which the number is lower after the change.
        difference: The mean difference, after minus before.
        interval: Student's t interval of the mean difference; None for one pair.
        p: The probability of a mean difference at least this large if each pair's sign were random:
            exact for up to 16 pairs. None for one pair.
    """

    pairs: int
    higher: int
    lower: int
    difference: float
    interval: tuple[float, float] | None
    p: float | None


def as_plain(found: object) -> Any:  # noqa: ANN401 -- dictionaries
    """Return statistics as JSON values, with null for numbers that are not finite."""
    return msgspec.json.decode(msgspec.json.encode(found))


def summarize(values: Sequence[float]) -> Summary | None:
    """Return statistics of the finite values; None if there are none.

    Raises:
        LookupFailure: scipy is not installed.
    """
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return None
    mean, error, std = _spread(finite)
    interval = None if error is None else (mean - error, mean + error)
    return Summary(mean, std, interval, min(finite), max(finite))


def compare_pairs(before: Sequence[float], after: Sequence[float]) -> Paired | None:
    """Return statistics of paired values. Pairs that are not finite are ignored.

    Args:
        before: A value for each seed.
        after: A value for each of the same seeds.

    Returns:
        The statistics; None if no pair is finite.

    Raises:
        LookupFailure: scipy is not installed.
    """
    apart = [new - old for old, new in zip(before, after, strict=True)]
    apart = [each for each in apart if math.isfinite(each)]
    if not apart:
        return None
    mean, error, _ = _spread(apart)
    return Paired(
        pairs=len(apart),
        higher=sum(each > 0 for each in apart),
        lower=sum(each < 0 for each in apart),
        difference=mean,
        interval=None if error is None else (mean - error, mean + error),
        p=None if error is None else _flip_signs(apart),
    )


def _spread(values: Sequence[float]) -> tuple[float, float | None, float | None]:
    """Return the mean, half the width of its interval, and the standard deviation."""
    import numpy as np

    stats, count = scipy_stats(), len(values)
    if count == 1 or min(values) == max(values):  # otherwise, rounding would create a spread
        spread = None if count == 1 else 0.0
        return values[0], spread, spread
    with np.errstate(all="ignore"):  # near the largest float, the result is infinite
        mean, std = float(np.mean(values)), float(np.std(values, ddof=1))
    return mean, float(stats.t.ppf((1 + LEVEL) / 2, count - 1)) * std / math.sqrt(count), std


def _flip_signs(apart: Sequence[float]) -> float:
    import numpy as np

    if not any(apart):
        return 1.0
    tested = scipy_stats().permutation_test(
        (np.array(apart),),
        np.mean,
        permutation_type="samples",  # with one sample, this flips signs
        vectorized=True,
        n_resamples=2**_EXACT if len(apart) <= _EXACT else 9_999,
        batch=10_000,
        rng=np.random.default_rng(0),  # p is the same each time, and no source of the user moves
    )
    return float(tested.pvalue)
