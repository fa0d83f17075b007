"""Statistics of a number over seeds, with scipy."""

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

# With fewer pairs no outcome is significant: 2 of 2**5 are more than ``1 - LEVEL``.
FEWEST = 6

# Up to this many pairs all 65,536 sign flips are counted; beyond, 9,999 random ones.
_EXACT = 16


def scipy_stats() -> Any:  # noqa: ANN401 -- a module
    """Import ``scipy.stats``.

    Raises:
        LookupFailure: scipy is not installed.
    """
    try:
        with warnings.catch_warnings():  # importing it adds filters, which are the user's decision
            from scipy import stats
    except ImportError:
        msg = 'a study of seeds needs scipy: pip install "ipytorchseed[stats]"'
        raise LookupFailure(msg) from None
    return stats


class Summary(Struct, frozen=True):
    """A number over seeds.

    Attributes:
        mean: Its mean.
        std: Its standard deviation over seeds, with n - 1; None for one value.
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
    """A number before and after a change, seed by seed.

    Attributes:
        pairs: Seeds with a number in both studies.
        higher: The number of seeds with a higher number after.
        lower: The number of seeds with a lower number after.
        difference: The mean of after minus before.
        interval: Student's t interval of that mean; None for one pair.
        p: The probability of a difference at least as large under random signs: exact up to 16
            pairs. None for one pair.
    """

    pairs: int
    higher: int
    lower: int
    difference: float
    interval: tuple[float, float] | None
    p: float | None


def as_plain(found: object) -> Any:  # noqa: ANN401 -- dictionaries
    """Return statistics as JSON values, with null for infinite numbers."""
    return msgspec.json.decode(msgspec.json.encode(found))


def summarize(values: Sequence[float]) -> Summary | None:
    """Summarize the finite values; None if there are none.

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
    """Compare values seed by seed, without pairs that are not finite.

    Args:
        before: A value for each seed.
        after: A value for each of the same seeds.

    Returns:
        None if no pair is left.

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
    """Return the mean, half of its interval, and the standard deviation."""
    import numpy as np

    stats, count = scipy_stats(), len(values)
    if count == 1 or min(values) == max(values):  # rounding of the mean must not create a spread
        spread = None if count == 1 else 0.0
        return values[0], spread, spread
    with np.errstate(all="ignore"):  # for numbers near the largest float, it is infinite
        mean, std = float(np.mean(values)), float(np.std(values, ddof=1))
    return mean, float(stats.t.ppf((1 + LEVEL) / 2, count - 1)) * std / math.sqrt(count), std


def _flip_signs(apart: Sequence[float]) -> float:
    import numpy as np

    if not any(apart):
        return 1.0
    tested = scipy_stats().permutation_test(
        (np.array(apart),),
        np.mean,
        permutation_type="samples",  # for one sample: each sign is flipped or not
        vectorized=True,
        n_resamples=2**_EXACT if len(apart) <= _EXACT else 9_999,
        batch=10_000,
        rng=np.random.default_rng(0),  # a fixed p for the same data; no user's source moves
    )
    return float(tested.pvalue)
