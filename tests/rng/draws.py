"""Ways to draw random numbers, mixed by the property tests.

Each function takes a generator and returns its numbers, comparable with ``==``. They draw odd
counts, leave a cached normal number or half a word, and use every width of float and integer:
an incomplete state would lack these.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

Draw = "Callable[[Any], object]"


def _shuffled(generator: Any) -> list[int]:
    items = [*range(9)]
    generator.shuffle(items)
    return items


PYTHON: dict[str, Callable[[Any], object]] = {
    "random": lambda it: it.random(),
    "gauss": lambda it: it.gauss(0, 1),
    "normalvariate": lambda it: it.normalvariate(0, 1),
    "betavariate": lambda it: it.betavariate(2, 3),
    "randint": lambda it: it.randint(0, 10),
    "randint of 100 bits": lambda it: it.randint(0, 2**100),
    "getrandbits": lambda it: it.getrandbits(7),
    "shuffle": _shuffled,
    "sample": lambda it: it.sample(range(100), 7),
    "choices": lambda it: it.choices("abc", k=5),
    "a block": lambda it: it.getrandbits(32 * 623),
}

LEGACY: dict[str, Callable[[Any], object]] = {
    "random": lambda it: it.random_sample(3).tolist(),
    "one normal": lambda it: it.standard_normal(),
    "three normals": lambda it: it.normal(size=3).tolist(),
    "randint": lambda it: it.randint(0, 10, size=3).tolist(),
    "randint of 16 bits": lambda it: it.randint(0, 99, size=3, dtype=np.uint16).tolist(),
    "randint of 64 bits": lambda it: it.randint(0, 2**40, size=3, dtype=np.int64).tolist(),
    "permutation": lambda it: it.permutation(7).tolist(),
    "shuffle": _shuffled,
    "gamma": lambda it: it.standard_gamma(0.5, size=3).tolist(),
    "bytes": lambda it: it.bytes(7),
    "a block": lambda it: it.bytes(4 * 623),
}

GENERATOR: dict[str, Callable[[Any], object]] = {
    "random": lambda it: it.random(3).tolist(),
    "random of 32 bits": lambda it: it.random(3, dtype=np.float32).tolist(),
    "normal": lambda it: it.normal(size=3).tolist(),
    "exponential": lambda it: it.standard_exponential(3, dtype=np.float32).tolist(),
    "integers": lambda it: it.integers(0, 10, size=3).tolist(),
    "integers of 8 bits": lambda it: it.integers(0, 10, size=3, dtype=np.uint8).tolist(),
    "integers of 32 bits": lambda it: it.integers(0, 99, dtype=np.uint32).tolist(),
    "permutation": lambda it: it.permutation(7).tolist(),
    "shuffle": _shuffled,
    "bytes": lambda it: it.bytes(7),
    "a block": lambda it: it.bytes(8 * 311),
}

TORCH: dict[str, Callable[[Any], object]] = {
    "rand": lambda it: torch.rand(3, generator=it).tolist(),
    "rand of 64 bits": lambda it: torch.rand(3, dtype=torch.float64, generator=it).tolist(),
    "one randn": lambda it: torch.randn(1, generator=it).tolist(),
    "five randn of 64 bits": lambda it: torch.randn(5, generator=it, dtype=torch.float64).tolist(),
    "17 randn": lambda it: torch.randn(17, generator=it).tolist(),
    "normal": lambda it: torch.normal(0.0, 2.0, (3,), generator=it).tolist(),
    "randint": lambda it: torch.randint(0, 10, (3,), generator=it).tolist(),
    "randint of 64 bits": lambda it: torch.randint(0, 2**40, (3,), generator=it).tolist(),
    "randperm": lambda it: torch.randperm(7, generator=it).tolist(),
    "bernoulli": lambda it: torch.bernoulli(torch.full((5,), 0.5), generator=it).tolist(),
    "exponential": lambda it: torch.empty(3).exponential_(generator=it).tolist(),
    "a block": lambda it: torch.rand(623, generator=it).tolist(),
}

# For each source: the argument for its ways of drawing, and the ways.
SOURCES: dict[str, tuple[Any, dict[str, Callable[[Any], object]]]] = {
    "python": (random, PYTHON),
    "numpy": (np.random, LEGACY),
    "torch.cpu": (None, TORCH),
}


def some(ways: dict[str, Callable[[Any], object]]) -> st.SearchStrategy[list[str]]:
    """Choose a few of the ways, in any order, also twice."""
    return st.lists(st.sampled_from(sorted(ways)), max_size=8)


def across(sources: Any = SOURCES) -> st.SearchStrategy[list[tuple[str, str]]]:
    """Choose a few ways of several sources."""
    every = [(source, way) for source in sources for way in sorted(SOURCES[source][1])]
    return st.lists(st.sampled_from(every), max_size=12)


def draw(chosen: list[tuple[str, str]]) -> list[object]:
    """Draw from sources as chosen."""
    return [SOURCES[source][1][way](SOURCES[source][0]) for source, way in chosen]
