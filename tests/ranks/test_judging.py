"""Looks of ranks, taken one after the other in this process and held side by side."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

import ipytorchseed as its
from ipytorchseed.errors import RanksError
from ipytorchseed.ranks.comparing import side_by_side
from ipytorchseed.ranks.looking import take

pytestmark = pytest.mark.usefixtures("put_back")

DRAWS = {
    "torch.cpu": torch.rand,
    "python": lambda number: [random.random() for _ in range(number)],
    "numpy": np.random.rand,
}


def compared(monkeypatch, *ranks, **expect):
    """Return what is said of ranks that each did something before they looked."""
    looks = []
    for number, act in enumerate(ranks):
        its.seed(42)
        act()
        monkeypatch.setenv("RANK", str(number))
        looks.append(take())
    return side_by_side(looks, expect)


@pytest.mark.parametrize(
    ("name", "said"),
    [("nunpy", "did you mean numpy"), ("jax", "there are python, numpy, torch.cpu")],
)
def test_nothing_can_be_expected_of_a_source_that_no_rank_has(monkeypatch, name, said):
    """A typing slip would pass for ranks that are as they should be."""
    with pytest.raises(RanksError, match=f"{name} is expected 'same', but no rank.*{said}"):
        compared(monkeypatch, int, int, **{name: "same"})


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("drawn", [(0, 1), (700, 3), (5, 900, 40)])
def test_ranks_that_stand_apart_in_one_stream_have_parted(monkeypatch, name, drawn):
    """Though no two are alike.

    No one means them to draw the same numbers, one later than another.
    """
    view = compared(monkeypatch, *(lambda n=n: DRAWS[name](n) for n in drawn))
    (finding,) = view.findings
    assert (finding.kind, finding.name) == ("source", name)
    assert name in finding.message
    assert not view.alike


@pytest.mark.parametrize("seeds", [(1, 2), (1, 2, 3)])
def test_ranks_with_seeds_of_their_own_are_meant_to_be_distinct(monkeypatch, seeds):
    """However much each has drawn."""
    acts = [lambda s=s: (its.seed(s), [draw(s) for draw in DRAWS.values()]) for s in seeds]
    view = compared(monkeypatch, *acts)
    assert view.alike
    assert view.headline == f"All {len(seeds)} ranks differ only where they should."
    assert (
        "Distinct in all ranks, assumed to be on purpose: python, numpy, torch.cpu." in view.notes
    )


def test_of_two_ranks_neither_is_said_to_be_the_odd_one(monkeypatch):
    """The sentence names both, as the JSON does."""
    model = [torch.nn.Linear(2, 2) for _ in range(2)]
    looks = []
    for number in (0, 1):
        monkeypatch.setenv("RANK", str(number))
        looks.append(take(model[number]))
    (finding,) = (each for each in side_by_side(looks, {}).findings if each.kind == "parameters")
    assert finding.ranks == [0, 1]
    assert finding.message.endswith("(rank 0 against rank 1)")
