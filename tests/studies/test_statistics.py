"""Intervals hold as often as they say, and p is exact for few seeds."""

from __future__ import annotations

import builtins
import math

import numpy as np
import pytest

from ipytorchseed.errors import LookupFailure
from ipytorchseed.studies.record import compare_pairs, summarize


def test_intervals_hold_the_mean_as_often_as_they_say():
    """Of 500 studies of a function of known mean and variance, 93 to 97 percent do."""
    draw = np.random.default_rng(11)
    held = 0
    for _ in range(500):
        low, high = summarize(draw.normal(3, 2, 8).tolist()).interval
        held += low <= 3 <= high
    assert 0.93 <= held / 500 <= 0.97


def test_a_summary_is_what_a_textbook_says():
    """The mean of 1 to 5 is 3; t with 4 degrees of freedom is 2.776 at 97.5 percent."""
    found = summarize([1, 2, 3, 4, 5])
    around = 2.776445 * math.sqrt(2.5 / 5)
    assert found.mean == 3
    assert found.std == pytest.approx(math.sqrt(2.5))
    assert found.interval == pytest.approx((3 - around, 3 + around), abs=1e-5)
    assert (found.least, found.most) == (1, 5)


@pytest.mark.parametrize(
    ("apart", "p"),
    [
        ([1, 1, 1, 1, 1, 1], 2 / 64),
        ([3, 1, 2, 5, 4, 6, 7, 8], 2 / 256),
        ([1, 2, 3, -6], 1.0),
        ([5, 4, 3, -1], 4 / 16),  # 13 and 11, and their opposites
        ([0, 0, 0], 1.0),
    ],
)
def test_p_counts_every_flip_of_signs(apart, p):
    """How many of the 2**n sums are as far from zero as the one that was seen."""
    assert compare_pairs([0] * len(apart), apart).p == pytest.approx(p)


def test_a_difference_that_is_there_is_found_no_more_often_by_chance_than_said():
    """Where nothing differs, p is below 0.05 in at most one study of 20."""
    draw = np.random.default_rng(5)
    noise = [compare_pairs([0.0] * 8, draw.normal(0, 1, 8).tolist()).p for _ in range(200)]
    gains = [compare_pairs([0.0] * 8, draw.normal(2, 1, 8).tolist()).p for _ in range(50)]
    assert sum(p < 0.05 for p in noise) / 200 <= 0.07
    assert sum(p < 0.05 for p in gains) / 50 >= 0.9


def test_odd_values():
    """One value has no spread; what is not finite is left out.

    The largest floats overflow.
    """
    assert summarize([2.0]).interval is None
    assert summarize([0.1, 0.1, 0.1]).std == 0
    assert summarize([1.0, math.nan, 3.0, math.inf]).mean == 2
    assert summarize([math.nan]) is None
    assert math.isinf(summarize([1e308, 1.7e308]).std)
    assert compare_pairs([math.nan, 1.0], [1.0, math.inf]) is None
    assert compare_pairs([1.0], [3.0]).p is None


def test_without_scipy_it_says_what_to_install(monkeypatch):
    """In one line."""
    imported = builtins.__import__

    def refuse(name, *given, **more):
        if name.partition(".")[0] == "scipy":
            raise ImportError(name)
        return imported(name, *given, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(LookupFailure, match=r'^[^\n]*pip install "ipytorchseed\[stats\]"$'):
        summarize([1, 2])
