"""Statistics of a number over seeds, by scipy."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ipytorchseed.errors import LookupFailure

LEVEL = 0.95
"""How often an interval holds the true value."""

FEWEST = 6
"""Pairs below which no outcome is rarer than ``1 - LEVEL`` by chance: 2 of 2**5 are not."""

_EXACT = 16
"""Pairs up to which all flips of signs are looked at, 65,536; beyond, 9,999 of them."""


def scipy_stats() -> Any:  # noqa: ANN401 -- a module
    """Import ``scipy.stats``.

    Raises:
        LookupFailure: scipy is not installed.
    """
    try:
        with warnings.catch_warnings():  # its import adds filters, which are the user's to add
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
        pairs: Seeds that gave it both times.
        higher: In how many of them it is higher after.
        lower: In how many it is lower.
        difference: The mean of after minus before.
        interval: Student's t interval of that mean; None for one pair.
        p: How often a difference as large comes about where signs are flips of a coin: exact up
            to 16 pairs. None for one pair.
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
    """Summarize values; those that are not finite are left out. None where no other is there.

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
    """Compare values seed by seed; pairs that are not finite are left out.

    Args:
        before: A value for each seed.
        after: As many, of the same seeds.

    Returns:
        None where no pair is left.

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
    if count == 1 or min(values) == max(values):  # no rounding of the mean makes a spread of none
        spread = None if count == 1 else 0.0
        return values[0], spread, spread
    with np.errstate(all="ignore"):  # of numbers near the largest there are, it is infinite
        mean, std = float(np.mean(values)), float(np.std(values, ddof=1))
    return mean, float(stats.t.ppf((1 + LEVEL) / 2, count - 1)) * std / math.sqrt(count), std


def _flip_signs(apart: Sequence[float]) -> float:
    import numpy as np

    if not any(apart):
        return 1.0
    tested = scipy_stats().permutation_test(
        (np.array(apart),),
        np.mean,
        permutation_type="samples",  # of one sample: each sign is flipped or not
        vectorized=True,
        n_resamples=2**_EXACT if len(apart) <= _EXACT else 9_999,
        batch=10_000,
        rng=np.random.default_rng(0),  # the same data, the same p; no source of the user's moves
    )
    return float(tested.pvalue)
