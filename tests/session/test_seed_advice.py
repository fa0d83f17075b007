"""``%why`` names calls that take a seed and drew from a stream instead."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

from ipytorchseed.session.asking import with_seeds
from ipytorchseed.why.explanation import Blame, Cause, Explanation, Root
from tests.render.explanations import run


def draw(seed=None):
    """Draw a number, with a seed or without."""
    return random.Random(seed).random()


CELL = run(3, "y = draw()")
OTHER = run(2, "x = draw()")
STREAM = Cause("rng", "numpy", "numpy's random stream had moved on")
INPUT = Cause("input", "x", "In[2] made `x` again", blame=(Blame(OTHER, "made x"),))
PASS = ("pass `seed=42` to `draw()`",)


@pytest.mark.parametrize(
    ("source", "causes", "roots", "keep"),
    [
        ("y = draw()", [STREAM], [], PASS),
        ("y = draw(1)", [STREAM], [], ()),
        ("y = draw()", [replace(STREAM, name="torch.cpu")], [], ()),
        ("y = x", [INPUT], [Root("rng", "python", "", ("x",))], PASS),
        ("y = x", [INPUT], [Root("code", "c", "", ("x",))], ()),
    ],
)
def test_calls_without_a_seed_are_named(source, causes, roots, keep):
    """They are those of the cell, or of the cells that made its inputs."""
    asked = replace(CELL, source=source)
    said = Explanation(asked, None, "explained", "", (), (*causes,), (*roots,))
    assert with_seeds(said, {"draw": draw}).keep == keep
