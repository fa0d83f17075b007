"""Records of a study: the numbers that the code computed under each seed."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec import Struct

from ipytorchseed.errors import SeedError
from ipytorchseed.rng.seeds import LIMIT, check_seed
from ipytorchseed.why.words import first_of

# The name of the number that is the value of the last expression.
RESULT = "result"

# The most levels of nested dictionaries that are searched for numbers, and the most entries of a
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
    return {
        path: number for name, value in values.items() for path, number in _numbers(name, value, 0)
    }


def _numbers(path: str, value: Any, depth: int) -> Iterator[tuple[str, float]]:  # noqa: ANN401
    if type(value) is dict:
        if depth < _DEPTH and len(value) <= _MOST:
            for key, item in list(value.items()):
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


# The most seeds of a study.
MOST = 10_000

# The most numbers, and the most errors, that are shown. The JSON has all of them.
SHOWN = 20


def choose_seeds(count: object, start: int) -> range:
    """Return consecutive seeds.

    Raises:
        SeedError: A seed is invalid, or there are fewer than 2 or more than ``MOST``.
    """
    if type(count) is not int or not 2 <= count <= MOST:  # noqa: PLR2004 -- one has no spread
        msg = f"a study takes 2 to {MOST} seeds, not {count!r}: one seed shows no noise"
        raise SeedError(msg)
    first = check_seed(start)
    if first + count > LIMIT:
        msg = f"{count} seeds from {first} exceed {LIMIT - 1}, the largest seed: start lower"
        raise SeedError(msg)
    return range(first, first + count)


class Outcome(Struct, frozen=True):
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


class Record(Struct, frozen=True):
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
        alone = ", ".join(dict.fromkeys(name for each in outcomes for name in each.alone))
        cut = ", ".join(dict.fromkeys(name for each in outcomes for name in each.cut))
        said = {
            f"Not seeded, so they start in the same state in every run: {alone}.": alone,
            f"No gradient flowed back into {cut}: the graph behind it cannot be copied.": cut,
        }
        return cls(
            seeds=tuple(each.seed for each in outcomes),
            numbers=numbers,
            errors={each.seed: each.error for each in outcomes if each.error is not None},
            notes=(*(text for text, holds in said.items() if holds), *notes),
        )

    def value(self, name: str, seed: int) -> float:
        """Return the value of a number under a seed; nan if it has none."""
        found = self.numbers[name][self.seeds.index(seed)]
        return math.nan if found is None else found


def listed(names: Iterable[str]) -> str:
    """Return names as a list, shortened if there are many; "none" without names."""
    return first_of([*names], SHOWN) or "none"
