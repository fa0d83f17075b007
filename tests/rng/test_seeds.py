"""Valid seeds, and derived seeds."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import ipytorchseed as its
from ipytorchseed.errors import IPyTorchSeedError, SeedError
from ipytorchseed.rng import seeds
from ipytorchseed.rng.seeds import LIMIT, check_seed, derive_seed, fresh_seed
from ipytorchseed.rng.table import recent_seeds

SEEDS = st.integers(0, LIMIT - 1)


class Index:
    """An integer type of some library."""

    def __index__(self):
        """Return it."""
        return 42


@pytest.mark.parametrize(
    ("value", "seed"),
    [
        (0, 0),
        (42, 42),
        (2**32 - 1, 2**32 - 1),
        (np.int64(42), 42),
        (np.uint8(42), 42),
        (np.array(42), 42),
        (torch.tensor(42), 42),
        (torch.tensor(2**32 - 1), 2**32 - 1),
        (Index(), 42),
    ],
    ids=lambda value: type(value).__name__,
)
def test_integers_from_0_to_2_to_the_32_minus_1_are_seeds(value, seed):
    """They may be of any library. The result is a plain int."""
    assert check_seed(value) == seed
    assert type(check_seed(value)) is int


NOT_SEEDS = [
    ("42", "not '42' (str)"),
    ("", "not '' (str)"),
    (42.0, "not 42.0 (float)"),
    (float("nan"), "not nan (float)"),
    (True, "not True"),
    (False, "not False"),
    (np.True_, "not True"),
    (torch.tensor(True), "not True"),
    (None, "not None (NoneType)"),
    ([1], "not [1] (list)"),
    (np.array([1, 2]), "not array([1, 2]) (ndarray)"),
    (torch.tensor(1.0), "not 1.0 (float)"),
    (torch.zeros(2, 2), "(Tensor)"),
    ("a\nb\n" * 1000, "(str)"),
    ([[1] * 1000] * 1000, "(list)"),
    (-1, "not -1: Python uses its absolute value, and numpy rejects it"),
    (-(2**31), "not -2147483648: "),
    (
        2**32,
        "not 4294967296: numpy rejects larger seeds, and torch's CPU generator drops the high",
    ),
    (np.uint64(2**63), "not 9223372036854775808: numpy rejects larger seeds"),
    (torch.tensor(2**40), "not 1099511627776: numpy rejects larger seeds"),
    (10**5000, "not one of 16610 bits: numpy rejects larger seeds"),
]


@pytest.mark.usefixtures("put_back")
@pytest.mark.parametrize(("value", "why"), NOT_SEEDS, ids=[why for _, why in NOT_SEEDS])
def test_anything_else_is_refused_in_one_short_line_and_nothing_is_seeded(value, why):
    """The error names the limit, the value and the reason.

    Sources and hints do not change.
    """
    before = its.snapshot().states, recent_seeds()
    with pytest.raises(SeedError) as caught:
        its.seed(value)
    message = str(caught.value)
    assert message.startswith("a seed is an integer from 0 to 4294967295, not ")
    assert why in message
    assert re.search(r": ([Pp]ython|numpy|nothing else) .+", message)
    assert "\n" not in message
    assert len(message) < 200
    assert (its.snapshot().states, recent_seeds()) == before


def test_a_seed_error_is_a_value_error_and_one_of_ours():
    """``except`` with either catches it."""
    assert issubclass(SeedError, ValueError)
    assert issubclass(SeedError, IPyTorchSeedError)


@pytest.mark.usefixtures("put_back")
def test_what_was_seeded_is_remembered_latest_first_and_once():
    """The last eight seeds are hints for finding positions."""
    for value in (*range(20), 15, np.int64(15)):
        its.seed(value)
    assert recent_seeds() == (15, 19, 18, 17, 16, 14, 13, 12)


@pytest.mark.usefixtures("put_back")
def test_seeding_does_what_the_three_plain_calls_do():
    """It gives the same numbers as the seed functions of python, numpy and torch."""
    its.seed(42)
    ours = [random.random(), np.random.random(), torch.rand(1).item()]
    random.seed(42)
    np.random.seed(42)
    torch.manual_seed(42)
    assert [random.random(), np.random.random(), torch.rand(1).item()] == ours


# --------------------------------------------------------------------------------------------------
# Derived seeds

FROZEN = {
    (0, ""): 2237205300,
    (42, "a"): 898407328,
    (42, "b"): 4016844233,
    (2**32 - 1, "loader.generator"): 130818266,
    (42, "Zelle äß€ 🎲"): 2026425629,
    (42, "\ud800"): 1977491600,
    (42, "x" * 1000): 1643138107,
}


@pytest.mark.parametrize(("common", "key"), FROZEN)
def test_derived_seeds_never_change(common, key):
    """A notebook derives the same seeds years later, on any machine."""
    assert derive_seed(common, key) == FROZEN[common, key]


@given(common=SEEDS, key=st.text(st.characters(codec=None), max_size=20))
def test_any_key_gives_a_seed_and_always_the_same(common, key):
    """Unicode, lone surrogates and the empty text included."""
    assert check_seed(derive_seed(common, key)) == derive_seed(common, key)


def test_keys_do_not_share_seeds():
    """10,000 keys, alike except a digit, and as many common seeds: each its own seed."""
    by_key = {derive_seed(42, f"cell {i}") for i in range(10_000)}
    by_seed = {derive_seed(i, "cell") for i in range(10_000)}
    assert len(by_key) == len(by_seed) == 10_000


def test_streams_of_neighbouring_keys_are_uncorrelated():
    """Of 64 streams of 2,000 floats no two correlate more than chance allows."""
    streams = [
        np.random.RandomState(derive_seed(42, f"{i}")).random_sample(2000) for i in range(64)
    ]
    between = np.corrcoef(streams) - np.eye(64)
    assert np.abs(between).max() < 5 / np.sqrt(2000)


def test_the_derived_seed_is_not_the_common_one():
    """This is also true for the empty key."""
    assert all(derive_seed(seed, "") != seed for seed in range(100))


# --------------------------------------------------------------------------------------------------
# New seeds


def test_a_fresh_seed_is_a_seed_and_moves_no_source():
    """It comes from the operating system; the sources stay (the suite's own check)."""
    fresh = {fresh_seed() for _ in range(20)}
    assert {check_seed(seed) for seed in fresh} == fresh
    assert len(fresh) > 1


def test_fresh_seeds_take_all_32_bits(monkeypatch):
    """None is beyond the limit, and none of the range is left out."""
    for word, seed in ((b"\xff" * 4, 2**32 - 1), (b"\0" * 4, 0), (b"\7\0\0\0", 7)):
        monkeypatch.setattr(seeds.os, "urandom", lambda size, word=word: word[:size])
        assert fresh_seed() == seed
