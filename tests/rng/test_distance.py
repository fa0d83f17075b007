"""Draws, seeds and freshness from the bytes of states only.

The first byte of a state does not matter.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

from ipytorchseed.rng import numpy_random, python_random, torch_random
from ipytorchseed.rng.distance import draws_between, is_fresh, locate_state
from ipytorchseed.rng.position import UNKNOWN, Position

# Some states begin like JSON: 123 is ``{``, 34 is ``"``.
SEEDS = [0, 34, 91, 123, 123 + 34 * 256, 379, 2**32 - 1]


def _torch(seed, draws):
    generator = torch.Generator().manual_seed(seed)
    torch.randint(0, 10, (draws,), generator=generator)
    return torch_random.read(generator)


def _python(seed, draws):
    generator = random.Random(seed)
    for _ in range(draws):
        generator.getrandbits(32)
    return python_random.read(generator)


def _legacy(seed, draws):
    generator = np.random.RandomState(seed)
    generator.randint(0, 2**32, draws, dtype=np.uint32)
    return numpy_random.read(generator)


def _new(seed, draws):
    generator = np.random.default_rng(seed)
    generator.bit_generator.random_raw(draws, output=False)
    return numpy_random.KIND.read(generator)


def _philox(seed, draws):
    return torch_random._PHILOX.pack(seed, draws)


@pytest.mark.parametrize("make", [_torch, _python, _legacy, _new, _philox])
@pytest.mark.parametrize("seed", SEEDS)
def test_draws_are_counted_whatever_the_seed(make, seed):
    """From one state to a later one, and not back."""
    before, after = make(seed, 3), make(seed, 1003)
    assert draws_between(before, after) == 1000
    assert draws_between(after, before) is None


@pytest.mark.parametrize("make", [_torch, _python, _legacy, _philox])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_state_is_placed_whatever_the_seed(make, seed):
    """By its bytes alone."""
    assert locate_state(make(seed, 1003)) == Position(seed, 1003)


@pytest.mark.parametrize("make", [_torch, _python, _legacy])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_new_state_is_known_whatever_the_seed(make, seed):
    """And one that was drawn from is not new."""
    assert is_fresh(make(seed, 0)) is True
    assert is_fresh(make(seed, 5)) is False


@pytest.mark.parametrize("state", [b"", b"{", b'{"', b'{"a": 1}', b"[1]", bytes(100)])
def test_states_of_registered_sources_tell_nothing(state):
    """Any bytes are possible."""
    assert draws_between(state, state) is None
    assert locate_state(state) == UNKNOWN
    assert is_fresh(state) is None
