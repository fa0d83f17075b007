"""Calls that take a seed and are given none: found without running anybody's code."""

from __future__ import annotations

import functools
from types import ModuleType

import pytest

from ipytorchseed.reads.seed_arguments import takes_seed, without_seed


class Tree:
    """Takes a seed where it is made and where it grows."""

    def __init__(self, years=1, *, random_state=None):
        """Begin."""

    def grow(self, years=1, seed=None):
        """Grow."""

    def fell(self, seed=0):
        """Has a seed."""

    @property
    def forest(self):
        """Is never asked."""
        raise AssertionError


@functools.wraps(Tree.grow)
def wrapped(*args, **kwargs):
    """Take all."""


def bars(*data, seed=None):
    """Take any number."""


woods = ModuleType("woods")
woods.Tree, woods.bars, woods.wrapped = Tree, bars, wrapped
NAMES = {"woods": woods, "tree": Tree(), "Tree": Tree, "bars": bars, "more": {}}

CALLS = [
    ("tree.grow()", [("tree.grow", "seed")]),
    ("x = woods.Tree(3)", [("woods.Tree", "random_state")]),
    ("%time bars(1, 2, 3)", []),
    ("bars(1, 2, 3)", [("bars", "seed")]),
    ("woods.wrapped(tree)", [("woods.wrapped", "seed")]),
    ("Tree.grow(tree)", [("Tree.grow", "seed")]),
    ("tree.grow(1, 2), tree.grow(seed=3), tree.grow(**more), Tree(random_state=None)", []),
    ("Tree(random_state=1).grow()", [("Tree(random_state=1).grow", "seed")]),
    ("bars(seed=1).grow(), absent().grow()", []),
    ("tree.forest.grow(), absent.grow(), tree.absent(), tree.fell()", []),
]


@pytest.mark.parametrize(("cell", "wanted"), CALLS)
def test_calls_without_their_seed(cell, wanted):
    """Functions, classes and methods, by the name that each has for its seed."""
    assert [each[:2] for each in without_seed(cell, NAMES)] == wanted


KINDS = [
    ("numpy.random.default_rng", True),
    ("woods.bars", True),
    ("uuid.uuid4", False),
    ("time.time", False),
    ("!curl example.org", False),
    ("id", False),
]


@pytest.mark.parametrize(("name", "takes"), KINDS)
def test_what_a_seed_may_mend(name, takes):
    """What draws by itself, and no clock or program."""
    assert takes_seed("entropy", name) is takes
    assert not takes_seed("rng", name)
