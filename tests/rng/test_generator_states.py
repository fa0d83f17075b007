"""Namespace generators of every kind: read, restore, reseed, locate."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ipytorchseed.errors import StateError
from ipytorchseed.rng.generators import find_generators
from ipytorchseed.rng.position import UNKNOWN, Position
from ipytorchseed.rng.seeds import derive_seed
from tests.rng.draws import GENERATOR, LEGACY, PYTHON, TORCH, some

pytestmark = pytest.mark.usefixtures("put_back")


class StubbornRandom(random.Random):
    """Overrides all that concerns state, wrongly."""

    def seed(self, *_):
        """Seed with something else, as a subclass may at construction."""
        super().seed(0)

    def getstate(self):
        """Must not be called."""
        raise AssertionError

    setstate = getstate


class StubbornLegacy(np.random.RandomState):
    """Overrides all that concerns state, wrongly."""

    def get_state(self, *_, **__):
        """Must not be called."""
        raise AssertionError

    set_state = seed = get_state


class StubbornGenerator(np.random.Generator):
    """Overrides all that concerns state, wrongly."""

    @property
    def bit_generator(self):
        """Must not be asked for."""
        raise AssertionError


class StubbornTorch(torch.Generator):
    """Overrides all that concerns state, wrongly."""

    def get_state(self):
        """Must not be called."""
        raise AssertionError

    set_state = manual_seed = get_state


ENGINES = [
    np.random.MT19937,
    np.random.PCG64,
    np.random.PCG64DXSM,
    np.random.Philox,
    np.random.SFC64,
]

# Kinds of generator: how to make one, and the ways of drawing from it.
MADE = {
    "Random": (lambda: random.Random(5), PYTHON),
    "Random, subclass": (lambda: StubbornRandom(5), PYTHON),
    "RandomState": (lambda: np.random.RandomState(5), LEGACY),
    "RandomState, subclass": (lambda: StubbornLegacy(5), LEGACY),
    "Generator, subclass": (lambda: StubbornGenerator(np.random.PCG64(5)), GENERATOR),
    "torch.Generator": (lambda: torch.Generator().manual_seed(5), TORCH),
    "torch.Generator, subclass": (StubbornTorch, TORCH),
    **{
        f"RandomState on {engine.__name__}": (
            lambda engine=engine: np.random.RandomState(engine(5)),
            LEGACY,
        )
        for engine in ENGINES
    },
    **{
        f"Generator on {engine.__name__}": (
            lambda engine=engine: np.random.Generator(engine(5)),
            GENERATOR,
        )
        for engine in ENGINES
    },
}

every_kind = pytest.mark.parametrize(("make", "ways"), MADE.values(), ids=MADE)


def _found(generator):
    (found,) = find_generators({"g": generator})
    return found


@every_kind
@settings(max_examples=20)
@given(data=st.data())
def test_a_generator_put_back_gives_the_same_next_numbers(make, ways, data):
    """After any draws, restoring a state repeats the draws after it."""
    before, after = data.draw(some(ways)), data.draw(some(ways))
    generator = make()
    found = _found(generator)
    for way in before:
        ways[way](generator)
    state = found.kind.read(generator)
    expected = [ways[way](generator) for way in after]
    found.kind.write(generator, state)
    assert found.kind.read(generator) == state
    assert [ways[way](generator) for way in after] == expected


@every_kind
@settings(max_examples=20)
@given(data=st.data())
def test_reading_a_generator_draws_nothing(make, ways, data):
    """Digest and position do not change the next numbers."""
    before = data.draw(some(ways))
    untouched, generator = make(), make()
    for way in before:
        ways[way](untouched)
        ways[way](generator)
    found = _found(generator)
    first = (found.digest, found.position)
    assert (found.digest, found.position) == first
    assert [way(generator) for way in ways.values()] == [way(untouched) for way in ways.values()]


@every_kind
@settings(max_examples=20)
@given(data=st.data())
def test_reseeding_gives_one_state_whatever_was_drawn(make, ways, data):
    """A common seed and a name lead to one state, and to the position with that seed."""
    before = data.draw(some(ways))
    generator = make()
    found = _found(generator)
    seed = found.reseed(42)
    assert seed == derive_seed(42, "g")
    first = found.digest
    for way in before:
        ways[way](generator)
    found.reseed(42)
    assert found.digest == first
    found.reseed(43)
    assert found.digest != first


@every_kind
def test_the_position_after_reseeding_names_the_derived_seed(request, make, ways):
    """What ``reseed`` applied is found again, except engines that are not placed."""
    found = _found(make())
    seed = found.reseed(42)
    not_placed = "RandomState on" in request.node.name and "MT19937" not in request.node.name
    assert found.position == (UNKNOWN if not_placed else Position(seed, 0))


@every_kind
@pytest.mark.parametrize("state", [b"", b"{}", b"[1]", b"\xff" * 2509, b"\xff" * 5056])
def test_a_damaged_state_is_refused_and_moves_nothing(make, ways, state):
    """It raises ``StateError``, and the generator continues."""
    generator = make()
    found = _found(generator)
    before = found.digest
    with pytest.raises(StateError):
        found.kind.write(generator, state)
    assert found.digest == before


@pytest.mark.parametrize("engine", ENGINES)
def test_a_state_with_a_part_missing_is_refused_and_moves_nothing(engine):
    """Also if numpy detects it only after setting the other parts."""
    generator = np.random.Generator(engine(5))
    found = _found(generator)
    document = json.loads(found.kind.read(np.random.Generator(engine(6))))
    (document["state"] if engine is np.random.MT19937 else document).popitem()
    before = found.digest
    with pytest.raises(StateError, match=f"numpy refuses this state of {engine.__name__}"):
        found.kind.write(generator, json.dumps(document).encode())
    assert found.digest == before


@pytest.mark.parametrize("new", [True, False], ids=["Generator", "RandomState"])
def test_a_state_of_another_engine_is_refused(new):
    """PCG64's state does not fit Philox; the error names both."""
    made = np.random.Generator if new else np.random.RandomState
    pcg = _found(made(np.random.PCG64(5)))
    philox = _found(made(np.random.Philox(5)))
    message = "this state is of numpy's PCG64, but the generator now runs on Philox"
    with pytest.raises(StateError, match=message):
        philox.kind.write(philox.object, pcg.kind.read(pcg.object))
