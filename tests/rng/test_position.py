"""Texts of positions in a stream."""

from __future__ import annotations

import pytest

from ipytorchseed.rng.position import BOUND, UNKNOWN, Position


@pytest.mark.parametrize(
    ("position", "text"),
    [
        (Position(42, 0), "seed 42"),
        (Position(42, 1005), "seed 42 + 1,005 draws"),
        (Position(0, 0), "seed 0"),
        (Position(None, 3), "seed unknown + 3 draws"),
        (Position(None, 0), "seed unknown"),
        (Position(42), "seed 42 + unknown draws"),
        (Position(42, beyond=True), "seed 42 + >100 million draws"),
        (UNKNOWN, "seed unknown"),
    ],
    ids=repr,
)
def test_a_position_reads_as_seed_and_draws(position, text):
    """Digits are grouped, and unknown parts are called unknown."""
    assert str(position) == text


def test_the_bound_that_texts_name_is_the_bound():
    """100 million draws, as the contract says."""
    assert BOUND == 100_000_000


def test_nothing_known_is_neither_seed_nor_draws():
    """It also does not claim that a bound was reached."""
    assert (UNKNOWN.seed, UNKNOWN.draws, UNKNOWN.beyond) == (None, None, False)
