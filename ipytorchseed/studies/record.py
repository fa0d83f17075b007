"""Records of a study: the numbers that the code computed under each seed."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

import msgspec

from ipytorchseed.errors import LookupFailure, SeedError
from ipytorchseed.rng.seeds import LIMIT, check_seed
from ipytorchseed.why.words import first_of

# The name of the number that is the value of the last expression.
RESULT = "result"

# The depth to which nested dictionaries are searched for numbers, and the maximum size of a
# dictionary that is searched.
_DEPTH = 3
_MOST = 200


def read_numbers(values: Mapping[str, object]) -> dict[str, float]:
    """Return the numbers in variables, by access path: ``acc``, ``scores['val']``.

    Numbers are python and numpy numbers, and tensors and arrays without dimensions. Booleans are
    not numbers. No user code runs.

    Args:
        values: The values of variables, by name.
    """
    found = (_numbers(name, value, 0) for name, value in values.items())
    return dict(chain.from_iterable(found))


def _numbers(path: str, value: Any, depth: int) -> Iterator[tuple[str, float]]:  # noqa: ANN401
    if type(value) is dict:
        for key, item in list(value.items()) if depth < _DEPTH and len(value) <= _MOST else ():
            if _is_one_of(type(key), str, int):
                yield from _numbers(f"{path}[{key!r}]", item, depth + 1)
    elif _is_number(value):
        with suppress(Exception):  # an integer may be too large, or a device may fail
            yield path, float(value.item() if hasattr(value, "item") else value)


def _is_one_of(kind: type, *kinds: type) -> bool:
    return any(kind is each for each in kinds)  # not `in`: a metaclass may define `==`


def _is_number(value: Any) -> bool:  # noqa: ANN401
    kind = type(value)
    if _is_one_of(kind, int, float):
        return True
    torch: Any = sys.modules.get("torch")
    numpy: Any = sys.modules.get("numpy")
    if hasattr(torch, "nn") and _is_one_of(kind, torch.Tensor, torch.nn.Parameter):
        real = not value.is_complex() and value.dtype != torch.bool
        return real and value.dim() == 0 and value.device.type != "meta"
    if not hasattr(numpy, "ndarray"):
        return False
    whole = issubclass(kind, numpy.generic) or (kind is numpy.ndarray and value.ndim == 0)
    return whole and value.dtype.kind in "iuf"


# The maximum number of seeds in a study.
MOST = 10_000

# How many numbers, and how many errors, are shown. The JSON has all of them.
SHOWN = 20


def choose_seeds(count: object, start: int) -> range:
    """Return consecutive seeds.

    Raises:
        SeedError: A seed is invalid, or there are fewer than 2 or more than ``MOST``.
    """
    if type(count) is not int or not 2 <= count <= MOST:  # noqa: PLR2004 -- one has no spread
        msg = f"a study takes 2 to {MOST} seeds, not {count!r}"
        raise SeedError(msg)
    first = check_seed(start)
    if first + count > LIMIT:
        msg = f"{count} seeds from {first} exceed {LIMIT - 1}, the largest seed: start lower"
        raise SeedError(msg)
    return range(first, first + count)


class Outcome(msgspec.Struct, frozen=True):
    """The result of one seed.

    Attributes:
        seed: The seed, from 0 to 2**32-1.
        values: Every number in the namespace after the run, by access path.
        made: The access paths of the numbers that the code computed or changed.
        error: The error that ended the run, in one line; or None.
        alone: Generators in the code's inputs. They are not seeded, so they start in the same state
            in every run.
        cut: Tensors that were copied without their autograd graph.
    """

    seed: int
    values: dict[str, float] = {}
    made: frozenset[str] = frozenset()
    error: str | None = None
    alone: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()


class Record(msgspec.Struct, frozen=True):
    """The results of all seeds of a study.

    Attributes:
        seeds: The seeds, in the order in which they were requested.
        numbers: For each number, by access path, its values under the seeds; None if a run did not
            compute it.
        errors: The errors of failed runs, each in one line, by seed.
        notes: Further remarks, each as a sentence.
    """

    seeds: tuple[int, ...]
    numbers: dict[str, tuple[float | None, ...]] = {}
    errors: dict[int, str] = {}
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, outcomes: Sequence[Outcome], notes: Iterable[str] = ()) -> Record:
        """Collect the outcomes of runs, with each number that any run computed."""
        made = dict.fromkeys(path for each in outcomes for path in each.values if path in each.made)
        numbers = {path: tuple(each.values.get(path) for each in outcomes) for path in made}
        others = [values for path, values in numbers.items() if path != RESULT]
        if numbers.get(RESULT) in others:  # the last line shows a variable
            del numbers[RESULT]
        said, errors = list[str](), {each.seed: each.error for each in outcomes if each.error}
        if alone := ", ".join(dict.fromkeys(name for each in outcomes for name in each.alone)):
            said += [f"Not seeded, so they start in the same state in every run: {alone}."]
        if cut := ", ".join(dict.fromkeys(name for each in outcomes for name in each.cut)):
            said += [f"No gradient flowed back into {cut}: the graph behind it cannot be copied."]
        return cls(tuple(each.seed for each in outcomes), numbers, errors, (*said, *notes))

    def value(self, name: str, seed: int) -> float:
        """Return the value of a number under a seed; nan if it has none."""
        found = self.numbers[name][self.seeds.index(seed)]
        return math.nan if found is None else found


def listed(names: Iterable[str]) -> str:
    """Return names as a list, shortened if there are many; "none" without names."""
    return first_of([*names], SHOWN) or "none"


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
    with warnings.catch_warnings():  # the import adds filters; the user decides about those
        try:
            from scipy import stats
        except ImportError:
            msg = 'a study of seeds needs scipy: pip install "ipytorchseed[stats]"'
            raise LookupFailure(msg) from None
    return stats


class Summary(msgspec.Struct, frozen=True):
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


class Paired(msgspec.Struct, frozen=True):
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
    return Summary(*_spread(finite), min(finite), max(finite))


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
    mean, _, interval = _spread(apart)
    higher, lower = sum(each > 0 for each in apart), sum(each < 0 for each in apart)
    p = None if interval is None else _flip_signs(apart)
    return Paired(len(apart), higher, lower, mean, interval, p)


def _spread(values: Sequence[float]) -> tuple[float, float | None, tuple[float, float] | None]:
    """Return the mean, the standard deviation, and the interval of the mean."""
    import numpy as np

    stats, count, least = scipy_stats(), len(values), min(values)
    if count == 1:
        return least, None, None
    if least == max(values):  # rounding would create a spread
        return least, 0.0, (least, least)
    with np.errstate(all="ignore"):  # near the largest float, the result is infinite
        mean, std = float(np.mean(values)), float(np.std(values, ddof=1))
    error = float(stats.t.ppf((1 + LEVEL) / 2, count - 1)) * std / math.sqrt(count)
    return mean, std, (mean - error, mean + error)


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
