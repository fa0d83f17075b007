"""The library in which a cell drew from a source of another library."""

from __future__ import annotations

import pytest

from ipytorchseed.why.finders.drawers import say_inside
from tests.render.explanations import run, value

DATA = value("da", "object", "Dataset, 10 attributes")
OWN = value("f0", "function", "pick")


@pytest.mark.parametrize(
    ("source", "packages", "reads", "said"),
    [
        (
            "ds.shuffle()",
            ("datasets", "numpy"),
            {"ds": DATA},
            ", inside `ds.shuffle()` of datasets",
        ),
        ("ds.shuffle(); ds.split()", ("datasets",), {"ds": DATA}, ", inside datasets"),
        ("ds.shuffle(); np.random.rand()", ("datasets", "numpy"), {"ds": DATA}, ""),
        ("ds.shuffle(); pick()", ("datasets",), {"ds": DATA, "pick": OWN}, ""),
        ("ds.shuffle()", ("datasets", "timm"), {"ds": DATA}, ""),
        ("sum([1])", ("datasets",), {}, ""),
    ],
)
def test_a_call_is_named_if_nothing_else_can_have_drawn(source, packages, reads, said):
    """Neither the cell, nor a function of the user, nor another library."""
    assert say_inside(run(1, source, packages=packages, reads=reads), "numpy") == said


def test_a_generator_is_named_by_its_holder():
    """So the answer has its library already."""
    made = run(1, "ds.shuffle()", packages=("datasets",), reads={"ds": DATA})
    assert say_inside(made, "numpy")
    made = run(
        1,
        "ds.shuffle()",
        packages=("datasets",),
        reads={"ds": DATA},
        generators={"ds.rng": "numpy.random.Generator in datasets"},
    )
    assert say_inside(made, "ds.rng") == ""
