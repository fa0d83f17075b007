"""A search for a stream position ends when its effort is spent."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from ipytorchseed.rng import numpy_random, torch_random
from ipytorchseed.rng.distance import draws_between
from ipytorchseed.rng.position import Effort, Position, TooFar, within

FAR = 1_000_000


def _state(draws):
    generator = torch.Generator().manual_seed(42)
    torch.randint(0, 10, (draws,), generator=generator)
    return torch_random.read(generator)


def test_near_places_are_found():
    """They cost their distance, which leaves less for the next search."""
    effort = Effort(5_000)
    with within(effort):
        assert torch_random.locate(_state(2_000), ()) == Position(42, 2_000)
        assert draws_between(_state(500), _state(2_500)) == 2_000
    assert 0 < effort.left < 1_000 + 624


def test_far_places_are_given_up():
    """The search does not claim that there are none."""
    for search in (
        lambda: torch_random.locate(_state(FAR), ()),
        lambda: draws_between(_state(0), _state(FAR)),
    ):
        effort = Effort(FAR // 2)
        with within(effort), pytest.raises(TooFar):
            search()
        assert effort.left == 0


def test_what_was_given_up_is_found_later():
    """Nothing remembers it as missing."""
    legacy = np.random.RandomState(7)
    legacy.randint(0, 2**32, 100_000, dtype=np.uint32)
    state = numpy_random.read(legacy)
    with within(Effort(10_000)), pytest.raises(TooFar):
        numpy_random.locate_legacy(state, ())
    assert numpy_random.locate_legacy(state, ()) == Position(7, 100_000)


def test_outside_there_is_no_limit():
    """Also after an error within."""
    with pytest.raises(KeyError), within(Effort(0)):
        raise KeyError
    assert torch_random.locate(_state(FAR), ()) == Position(42, FAR)
