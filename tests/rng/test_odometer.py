"""The odometer of numpy's bit generators, by arithmetic or by their counters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import MT19937, PCG64, PCG64DXSM, SFC64, Philox, SeedSequence

from ipytorchseed.rng import mersenne, numpy_random
from ipytorchseed.rng.generators import find_generators
from ipytorchseed.rng.position import BOUND, UNKNOWN, Position

SEEDS = st.integers(0, 2**32 - 1)
DRAWS = st.integers(0, 3000) | st.sampled_from([0, 1, 3, 4, 5, 8, 622, 623, 624, 625, 1248])

ENGINES = [MT19937, PCG64, PCG64DXSM, Philox, SFC64]


@pytest.fixture(autouse=True)
def short_way(monkeypatch):
    """Limit the search in MT19937, which counts step by step, to 10,000 draws."""
    monkeypatch.setattr(mersenne.distance, "__defaults__", (10_000,))


every_engine = pytest.mark.parametrize("engine", ENGINES)
arithmetic = pytest.mark.parametrize("engine", [PCG64, PCG64DXSM])


@every_engine
@given(seed=SEEDS, draws=DRAWS, hints=st.lists(SEEDS, max_size=2))
def test_seed_and_draws_are_exact(engine, seed, draws, hints):
    """They count raw numbers since the seed of the object's creation.

    Wrong hints do not matter.
    """
    made = engine(seed)
    made.random_raw(draws)
    assert numpy_random.locate_engine(made, hints) == Position(seed, draws)


@every_engine
@given(seed=SEEDS, first=SEEDS, draws=DRAWS)
def test_a_hint_finds_a_seed_given_later(engine, seed, first, draws):
    """The object keeps only the seed of its creation.

    A later seed is found through its hint.
    """
    made = engine(first)
    made.state = engine(seed).state
    made.random_raw(draws)
    assert numpy_random.locate_engine(made, [1, seed]) == Position(seed, draws)


@every_engine
def test_reading_the_position_draws_nothing(engine):
    """The next numbers do not change."""
    looked, plain = engine(5), engine(5)
    numpy_random.locate_engine(looked, [1, 5])
    assert looked.random_raw(700).tolist() == plain.random_raw(700).tolist()


@arithmetic
@given(seed=SEEDS, draws=st.integers(0, BOUND))
def test_long_ways_are_arithmetic(engine, seed, draws):
    """Any distance up to the bound is computed without steps."""
    made = engine(seed)
    made.advance(draws)
    assert numpy_random.locate_engine(made) == Position(seed, draws)


@arithmetic
@given(seed=SEEDS, draws=st.integers(BOUND + 1, 2**127))
def test_past_the_bound_the_position_is_given_up(engine, seed, draws):
    """A long distance cannot be distinguished from another stream.

    So the position is unknown, and ``beyond`` is set.
    """
    made = engine(seed)
    made.advance(draws)
    assert numpy_random.locate_engine(made) == Position(beyond=True)


@every_engine
def test_past_a_smaller_bound_every_engine_gives_up(monkeypatch, engine):
    """Exact up to the bound, unknown and ``beyond`` after it."""
    monkeypatch.setattr(numpy_random, "BOUND", 1000)
    monkeypatch.setattr(mersenne.distance, "__defaults__", (1000,))
    made = engine(5)
    made.random_raw(1000)
    assert numpy_random.locate_engine(made) == Position(5, 1000)
    made.random_raw(1)
    assert numpy_random.locate_engine(made) == Position(beyond=True)


@every_engine
def test_a_state_before_the_seed_has_no_position(engine):
    """No draws lead from a later state to an earlier one."""
    late = engine(5)
    late.random_raw(7)
    count = numpy_random._COUNT[engine.__name__]
    assert count(engine(5), late.state) == 7
    back = count(late, engine(5).state)
    assert back is None or back > BOUND


@every_engine
def test_another_stream_is_not_taken_for_this_one(engine):
    """A state that the seed never leads to has no position."""
    made = engine(5)
    made.state = engine(6).state
    made.random_raw(10)
    assert numpy_random.locate_engine(made) == Position(beyond=True)


@pytest.mark.parametrize(("engine", "part"), [(PCG64, "inc"), (PCG64DXSM, "inc"), (Philox, "key")])
def test_the_same_place_in_another_stream_is_another_place(engine, part):
    """Two streams may have the same state or counter.

    Their increments or keys are compared too.
    """
    made = engine(5)
    state = made.state
    state["state"][part] = engine(6).state["state"][part]
    made.state = state
    assert numpy_random.locate_engine(made) == Position(beyond=True)


@pytest.mark.parametrize(
    ("entropy", "seed"),
    [
        (7, 7),
        (np.int64(7), 7),
        (SeedSequence(7), 7),
        (2**40, 2**40),
        (2**64, None),
        ([1, 2], None),
        (None, None),
        (SeedSequence(7, spawn_key=(1,)), None),
        (SeedSequence(7).spawn(1)[0], None),
    ],
    ids=lambda value: "spawned" if isinstance(value, SeedSequence) else str(value),
)
def test_a_seed_is_named_only_where_a_person_typed_one(entropy, seed):
    """Generators that the system seeded or that were spawned have draws but no seed."""
    generator = np.random.default_rng(entropy)
    generator.bit_generator.random_raw(3)
    assert numpy_random.KIND.locate(generator, ()) == Position(seed, 3)


def test_a_child_spawned_from_a_generator_counts_its_own_draws():
    """``spawn`` gives separate streams, and draws nothing from the parent."""
    parent = np.random.default_rng(5)
    (child,) = parent.spawn(1)
    child.random(3)
    assert numpy_random.KIND.locate(parent, ()) == Position(5, 0)
    assert numpy_random.KIND.locate(child, ()) == Position(None, 3)


def test_the_other_half_of_a_number_is_no_draw():
    """32-bit integers use a raw number of 64 bits in two halves."""
    generator = np.random.default_rng(5)
    generator.integers(0, 2**32, dtype=np.uint32)
    assert numpy_random.KIND.locate(generator, ()) == Position(5, 1)
    generator.integers(0, 2**32, dtype=np.uint32)
    assert numpy_random.KIND.locate(generator, ()) == Position(5, 1)


def test_an_engine_of_another_library_is_unknown():
    """We cannot count its steps, even if it has the name of numpy's engine."""
    foreign = type("PCG64", (PCG64,), {"__module__": "elsewhere"})
    assert numpy_random.locate_engine(foreign(5), [5]) is UNKNOWN


def test_a_generator_in_the_namespace_shows_seed_and_draws():
    """``rng = np.random.default_rng(42)`` and 1,000 floats: seed 42 + 1,000 draws."""
    rng = np.random.default_rng(42)
    rng.random(1000)
    (found,) = find_generators({"rng": rng})
    assert str(found.position) == "seed 42 + 1,000 draws"
