"""The odometer of the Mersenne Twister.

Python, numpy's legacy generators, torch on CPU.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

import ipytorchseed as its
from ipytorchseed.rng import mersenne, numpy_random, python_random, torch_random
from ipytorchseed.rng.generators import find_generators
from ipytorchseed.rng.position import Position
from ipytorchseed.rng.table import locate
from tests.rng.known import find_source

pytestmark = pytest.mark.usefixtures("put_back")

SEEDS = st.integers(0, 2**32 - 1) | st.sampled_from([0, 1, 42, 2**31, 2**32 - 1])
DRAWS = st.integers(0, 5000) | st.sampled_from([0, 1, 2, 622, 623, 624, 625, 1247, 1248, 1249])


def _python(seed, draws):
    generator = random.Random(seed)
    for _ in range(draws):
        generator.getrandbits(32)
    return generator


def _legacy(seed, draws):
    generator = np.random.RandomState(seed)
    generator.randint(0, 2**32, draws, dtype=np.uint32)
    return generator


def _torch(seed, draws):
    generator = torch.Generator().manual_seed(seed)
    torch.randint(0, 10, (draws,), generator=generator)
    return generator


# A function that makes a generator after some 32-bit draws, and one that locates it.
KINDS = {
    "python": (_python, lambda it, hints: python_random.locate(python_random.read(it), hints)),
    "numpy": (
        _legacy,
        lambda it, hints: numpy_random.locate_legacy(numpy_random.read(it), hints),
    ),
    "torch": (_torch, lambda it, hints: torch_random.locate(torch_random.read(it), hints)),
}

every_kind = pytest.mark.parametrize(("make", "place"), KINDS.values(), ids=KINDS)


@every_kind
@given(seed=SEEDS, draws=DRAWS, hints=st.lists(SEEDS, max_size=2))
def test_seed_and_draws_are_found_whoever_seeded(make, place, seed, draws, hints):
    """The user seeded it directly.

    The seed is found without a hint, and despite wrong ones.
    """
    assert place(make(seed, draws), hints) == Position(seed, draws)


@every_kind
@given(seed=SEEDS, draws=DRAWS)
def test_a_right_hint_leads_to_the_same_position(make, place, seed, draws):
    """A hint is faster and does not change the result."""
    assert place(make(seed, draws), [7, seed]) == Position(seed, draws)


@given(seed=SEEDS, draws=DRAWS)
def test_the_three_hidden_generators_are_placed_alike(seed, draws):
    """After seeding python, numpy and torch, without a hint."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    for _ in range(draws):
        random.getrandbits(32)
    np.random.randint(0, 2**32, draws, dtype=np.uint32)
    torch.randint(0, 10, (draws,))
    for name in ("python", "numpy", "torch.cpu"):
        source = find_source(name)
        assert source.locate(source.read(), ()) == Position(seed, draws)


@pytest.mark.parametrize(
    ("name", "draw", "raw"),
    [
        ("python", random.random, 2),
        ("python", lambda: random.gauss(0, 1), 4),
        ("python", lambda: random.getrandbits(65), 3),
        ("numpy", lambda: np.random.random(5), 10),
        ("torch.cpu", lambda: torch.rand(5), 5),
        ("torch.cpu", lambda: torch.rand(5, dtype=torch.float64), 10),
        ("torch.cpu", lambda: torch.rand(1000), 1000),
    ],
)
def test_draws_are_raw_numbers_of_32_bits(name, draw, raw):
    """A float of 64 bits takes two, one of torch's 32-bit floats takes one."""
    its.seed(42)
    source = find_source(name)
    assert locate(source, source.read()) == Position(42, 0)
    draw()
    assert locate(source, source.read()) == Position(42, raw)


def test_many_draws_are_counted_to_the_last():
    """Five million, far beyond what is searched without a hint."""
    its.seed(42)
    np.random.randint(0, 2**32, 5_000_001, dtype=np.uint32)
    source = find_source("numpy")
    assert locate(source, source.read()) == Position(42, 5_000_001)


# --------------------------------------------------------------------------------------------------
# What cannot be known


def _from_system(kind):
    return random.Random() if kind == "python" else np.random.RandomState()


@pytest.fixture
def near(monkeypatch):
    """Shorten the searches.

    2,000 draws where the seed is unknown, 10,000 where it is known.
    """
    monkeypatch.setattr(mersenne, "_NEAR", 2_000)
    monkeypatch.setattr(mersenne, "BOUND", 10_000)
    monkeypatch.setattr(mersenne.distance, "__defaults__", (10_000,))
    torch_random._locate_cpu.cache_clear()
    mersenne._search_backwards.cache_clear()
    yield
    torch_random._locate_cpu.cache_clear()
    mersenne._search_backwards.cache_clear()


@pytest.mark.parametrize("kind", ["python", "numpy"])
def test_a_generator_seeded_by_the_system_has_no_known_seed(near, kind):
    """Seed and draws are unknown, and ``beyond`` is set if a hint was tried."""
    make, place = _from_system, KINDS[kind][1]
    assert place(make(kind), ()) == Position()
    assert place(make(kind), (42,)) == Position(beyond=True)


@pytest.mark.parametrize(
    ("generator", "place"),
    [
        (random.Random("text"), KINDS["python"][1]),
        (random.Random(2**40), KINDS["python"][1]),
        (random.Random(0.5), KINDS["python"][1]),
        (np.random.RandomState([1, 2]), KINDS["numpy"][1]),
        (np.random.RandomState(np.random.MT19937(5)), KINDS["numpy"][1]),
    ],
    ids=["text", "40 bits", "float", "list", "SeedSequence"],
)
def test_seeds_of_other_forms_are_not_mistaken(near, generator, place):
    """A seed that is not an integer below 2**32 is unknown."""
    assert place(generator, ()) == Position()


def test_python_takes_a_negative_seed_for_its_absolute_value():
    """``random.seed(-5)`` is ``random.seed(5)``, and is shown as 5."""
    assert KINDS["python"][1](random.Random(-5), ()) == Position(5, 0)


def test_an_unseeded_torch_generator_has_its_fixed_first_seed():
    """All of them start with the same seed, which torch reports."""
    generator = torch.Generator()
    assert KINDS["torch"][1](generator, ()) == Position(generator.initial_seed(), 0)


@pytest.mark.parametrize("seed", [2**32 + 5, 2**63 + 5, -1])
def test_a_torch_seed_beyond_32_bits_is_shown_as_given_and_counted(seed):
    """Only its low 32 bits matter, but torch reports the whole seed."""
    generator = _torch(seed, 1000)
    assert KINDS["torch"][1](generator, ()) == Position(generator.initial_seed(), 1000)


@every_kind
@pytest.mark.parametrize("draws", [10_000, 10_001])
def test_counting_gives_up_past_the_bound(near, make, place, draws):
    """The count is exact up to the bound.

    Beyond it, draws are unknown and ``beyond`` is set. The seed is known only for torch, whose
    state contains it. A state of python or numpy far from a hint may have another seed.
    """
    place_is = place(make(42, draws), [42])
    if draws == 10_000:
        assert place_is == Position(42, draws)
    else:
        assert place_is == Position(42 if make is _torch else None, None, beyond=True)


@every_kind
@given(seed=SEEDS, words=st.binary(min_size=32, max_size=32), used=st.integers(1, 624))
def test_foreign_words_are_not_mistaken_for_a_seed(make, place, seed, words, used):
    """Words that no seeding leads to have no position."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mersenne, "_NEAR", 2_000)
        patch.setattr(mersenne, "BOUND", 2_000)
        foreign = mersenne.Twister(words * 78, used)
        for scheme in ("knuth", "array"):
            assert mersenne.locate(scheme, foreign.pack(), (seed,)) == Position(beyond=True)


# --------------------------------------------------------------------------------------------------
# Distances


@given(seed=SEEDS, first=DRAWS, more=DRAWS)
def test_the_distance_between_two_states_is_the_draws_between(seed, first, more):
    """From any state to any later one; from a later to an earlier there is none."""

    def twister(draws):
        return mersenne.Twister.unpack(numpy_random.read(_legacy(seed, draws)))

    begin, end = twister(first), twister(first + more)
    assert mersenne.distance(begin, end) == more
    assert mersenne.distance(begin, end, bound=more) == more
    assert mersenne.distance(begin, end, bound=max(0, more - 1)) == (more if more == 0 else None)
    if more:
        assert mersenne.distance(end, begin, bound=10_000) is None


@given(seed=SEEDS, draws=DRAWS, behind=st.integers(1, 623))
@example(seed=0, draws=0, behind=1)
def test_a_state_before_the_seed_has_no_position(seed, draws, behind):
    """A seed's words with fewer than 624 used are before the first draw."""
    for scheme in ("knuth", "array"):
        seeded = mersenne.seeded(seed, scheme)
        early = mersenne.Twister(seeded.words, mersenne.N - behind)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(mersenne, "BOUND", 2_000)
            assert mersenne.locate(scheme, early.pack(), (seed,)).draws is None
            assert mersenne.distance(seeded, early, bound=draws) is None


def test_a_generator_in_the_namespace_is_placed_without_a_hint():
    """``%rng`` shows the seed that a user gave to an object."""
    namespace = {name: make(7, 11) for name, (make, _) in KINDS.items()}
    assert [found.position for found in find_generators(namespace)] == [Position(7, 11)] * 3
