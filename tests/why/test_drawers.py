"""The library in which a cell drew from a source of another library."""

from __future__ import annotations

import pytest

from ipytorchseed.ledger.records import Observed
from ipytorchseed.why.finders.drawers import say_inside
from ipytorchseed.why.finders.movers import never_seeded
from tests.render.explanations import explain, run, states, value
from tests.why.test_seeded import FewDraws

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


def _observed(number, *calls, **states):
    drew = Observed(drew={"torch.cpu": calls})
    return run(number, "draw()", observed=drew, writes={"x": value(f"{number:04d}")}, **states)


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        (("torch.randn",), "In[1] (`torch.randn`) took 4 numbers"),
        (("Linear", "torch.randn"), "In[1] (`Linear`, `torch.randn`) took 4 numbers"),
        (("Linear", "a", "b", "c"), "In[1] (`Linear`, `a` and 2 more) took 4 numbers"),
        ((), "In[1] took 4 numbers"),
    ],
)
def test_calls_that_were_observed_to_draw_are_named(calls, said):
    """They follow the cell that called them."""
    runs = [
        _observed(1, *calls, **states("0", "4")),
        _observed(2, "other", **states("4", "8")),
    ]
    (cause,) = explain(runs[1], runs[0], runs[:1], FewDraws(runs)).causes
    assert cause.message == f"torch's random stream had moved on: {said} from it"


def test_what_drew_from_a_source_that_was_never_seeded_is_named():
    """The user may not know that the call draws at all."""
    later = _observed(2, "train_test_split")
    cause = never_seeded("torch.cpu", later)
    assert cause.message.endswith("after every restart; `train_test_split` drew from it here")
