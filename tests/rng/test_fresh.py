"""Whether a generator has drawn since it was seeded, from its state alone."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

from ipytorchseed.rng.distance import is_fresh
from ipytorchseed.rng.generators import find_generators

SEEDED = {
    "random.Random": lambda: random.Random(1),
    "random.Random, no seed": random.Random,
    "RandomState": lambda: np.random.RandomState(1),
    "RandomState, no seed": np.random.RandomState,
    "torch.Generator": lambda: torch.Generator().manual_seed(1),
}

DRAW = {
    random.Random: lambda generator: generator.random(),
    np.random.RandomState: lambda generator: generator.rand(2),
    torch.Generator: lambda generator: torch.rand(2, generator=generator),
}


def state_of(generator):
    """Return the full state of a generator."""
    (found,) = find_generators({"it": generator})
    return found.kind.read(generator)


@pytest.mark.parametrize("name", SEEDED)
def test_a_generator_is_fresh_until_it_is_drawn_from(name):
    """With a seed and without one.

    Without a seed, numpy starts at another position.
    """
    generator = SEEDED[name]()
    assert is_fresh(state_of(generator)) is True
    DRAW[type(generator)](generator)
    assert is_fresh(state_of(generator)) is False


def test_other_algorithms_do_not_tell():
    """PCG64 keeps no count."""
    assert is_fresh(state_of(np.random.default_rng(1))) is None
