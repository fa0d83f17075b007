"""Parts of values are listed, compared and put back in place."""

from __future__ import annotations

import copy
from collections import deque

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ipytorchseed.experiment.parts import MISSING, differing, find_part, is_same, put_back
from ipytorchseed.why.experiments import minimize

pytestmark = pytest.mark.usefixtures("put_back")


class Plain:
    """An object with attributes."""

    def __init__(self, **attributes):
        vars(self).update(attributes)


class Slotted:
    """An object without a dictionary."""

    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b


class Guarded:
    """An object whose attributes cannot be set by assignment."""

    def __init__(self, lr):
        vars(self).update(lr=lr)

    def __setattr__(self, name, value):
        raise AttributeError(name)


def _model(**changes):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    with torch.no_grad():
        for name, value in changes.items():
            model.state_dict()[name.replace("__", ".")].fill_(value)
    return model


def _optimizer(**settings):
    model = _model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
    optimizer.param_groups[0].update(settings)
    return optimizer


def _frame(**columns):
    return pd.DataFrame({"n": [1, 2, 3], "price": [1.0, 2.0, 3.0]} | columns)


def _restored(now, then, paths):
    return put_back(now, then, paths, copy.deepcopy)


@pytest.mark.parametrize(
    ("now", "then", "text"),
    [
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, "['b']"),
        ({"a": 1, "b": 2}, {"a": 1}, "['b']"),
        ({"a": 1}, {"a": 1, 7: 2}, "[7]"),
        ([1, [2, 3]], [1, [2, 4]], "[1][1]"),
        (deque([1, 2]), deque([1, 3]), "[1]"),
        ((1, {"a": 2}), (1, {"a": 3}), "[1]['a']"),
        (Plain(lr=1, n=2), Plain(lr=3, n=2), ".lr"),
        (Plain(lr=1, n=2), Plain(lr=1), ".n"),
        (Plain(inner=Plain(lr=1)), Plain(inner=Plain(lr=2)), ".inner.lr"),
        (Slotted(1, 2), Slotted(1, 3), ".b"),
        (Guarded(1), Guarded(2), ".lr"),
        (Plain(data=np.zeros(3)), Plain(data=np.ones(3)), ".data"),
        (Plain(data=np.zeros(3)), Plain(data=np.ones(4)), ".data"),
        (Plain(data=torch.zeros(3)), Plain(data=torch.ones(3)), ".data"),
        (_frame(), _frame(price=[1.0, 9.0, 3.0]), "['price'].iloc[1]"),
        (_frame(m=[1, 1, 1]), _frame(), "['m']"),
        (_frame(m=[1, 1, 1]), _frame(m=["a", "a", "a"]), "['m']"),
        (_model(), _model(**{"0__weight": 1}), "[0].weight"),
        (_model(), _model(**{"1__running_mean": 1}), "[1].running_mean"),
        (_model(), _model().eval(), None),
        (_optimizer(), _optimizer(lr=0.5), ".param_groups[0]['lr']"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_the_part_that_differs_is_found_and_put_back(now, then, text):
    """Restoring it alone makes the value what it was; what it was is left as it is."""
    was = copy.deepcopy(then)
    path = ()
    while len(keys := differing(*find_part(now, then, path)[:2])) == 1:
        path += (keys[0],)
    found = find_part(now, then, path)[2]
    assert (found, len(keys)) == ((text, 0) if text is not None else ("", 3))
    made = _restored(now, then, {path})
    assert made is now or isinstance(now, tuple)
    assert is_same(made, then)
    assert is_same(then, was)


def test_the_state_of_an_optimizer_goes_back_without_the_parameters():
    """They stay those that it moves, with the numbers that they have."""
    stepped, other = _optimizer(), _optimizer()
    for each, value in ((stepped, 1.0), (other, 2.0)):
        for parameter in each.param_groups[0]["params"]:
            parameter.grad = torch.full_like(parameter, value)
        each.step()
    parameters = [*stepped.param_groups[0]["params"]]
    before = [each.detach().clone() for each in parameters]
    _restored(stepped, other, {()})
    assert all(map(torch.equal, parameters, before))
    held = [stepped.state[each]["momentum_buffer"] for each in parameters]
    assert all(each.eq(2).all() for each in held)


def test_a_view_still_shares_memory():
    """Numbers are written over those that are there."""
    whole = np.zeros(4)
    part, then = whole[1:3], np.ones(2)
    assert _restored(part, then, {()}) is part
    assert whole.tolist() == [0, 1, 1, 0]


def test_objects_that_hold_one_another():
    """A cycle ends."""
    values = []
    for rate in (1, 2):
        parent = Plain(rate=rate)
        parent.child = Plain(parent=parent, rate=rate)
        values.append(parent)
    made = _restored(*values, {()})
    assert (made.rate, made.child.rate, made.child.parent is made) == (2, 2, True)


@pytest.mark.parametrize(
    ("now", "then"),
    [
        ([1, 2], [1, 2, 3]),
        (1, 2),
        ("a", "b"),
        (MISSING, {"a": 1}),
        (Plain(a=1), Slotted(1, 2)),
        (_frame(), pd.DataFrame({"n": [1]})),
    ],
    ids=range(6),
)
def test_values_without_parts_in_common(now, then):
    """They go back as a whole."""
    assert differing(now, then) == []
    made = _restored(now, then, {()})
    assert is_same(made, then)


@given(st.sets(st.integers(0, 19), min_size=1, max_size=20).flatmap(
    lambda parts: st.tuples(st.just(sorted(parts)), st.sets(st.sampled_from(sorted(parts)), min_size=1))
))  # fmt: skip
def test_the_smallest_set_of_parts_is_found(drawn):
    """Whatever parts are needed together: these and no others."""
    parts, needed = drawn
    assert {*minimize(parts, lambda chosen: needed <= {*chosen})} == needed
