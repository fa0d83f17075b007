"""The calls that drew from a source."""

from __future__ import annotations

import pytest

from ipytorchseed.ledger.records import Observed
from ipytorchseed.why.finders.streams import never_seeded
from tests.render.explanations import explain, run, states, value
from tests.why.test_seeded import FewDraws


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
