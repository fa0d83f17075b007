"""Inputs that were observed not to be read are cleared, with that reason."""

from __future__ import annotations

import pytest

from ipytorchseed.fingerprint import fingerprint
from ipytorchseed.ledger.records import Observed
from tests.render.explanations import States, explain, number, run

OLD = {"rate": 0.1, "seed": 1}
NEW = {"rate": 0.1, "seed": 2}


class Box:
    """An object with attributes."""

    def __init__(self, **values):
        vars(self).update(values)


def _cleared(before, after, *observed, name="config"):
    """Return why an input that differs between two runs is cleared, or None."""
    pair = [
        run(
            number_ + 1,
            "loss = f()",
            reads={name: fingerprint(value)},
            writes={"loss": number(2.0 + number_)},
            observed=each,
        )
        for number_, (value, each) in enumerate(zip((before, after), observed, strict=True))
    ]
    said = explain(pair[1], pair[0], pair[:1], States(pair))
    assert len(said.causes) + len(said.cleared) == 1
    return said.cleared[0].message if said.cleared else None


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (Observed(), Observed(), "not read"),
        (Observed(), Observed(set_first=("config",)), "assigned first: the cell sets it before"),
        (Observed(read={"config": ()}), Observed(), None),
        (Observed(), Observed(read={"config": ()}), None),
        (Observed(), Observed(unseen="it took all variables at once"), None),
        (Observed(), None, None),
        (None, Observed(), None),
    ],
)
def test_what_neither_run_read_is_dropped(first, second, expected):
    """An input that one of them read, or may have read, is not cleared."""
    said = _cleared(OLD, NEW, first, second)
    assert said is None if expected is None else said.startswith(expected)


@pytest.mark.parametrize(
    ("before", "after", "parts", "expected"),
    [
        (OLD, NEW, ("['rate']",), "config['rate']"),
        (OLD, NEW, ("['rate']", "['seed']"), None),
        (OLD, NEW, ("['other']",), None),
        (OLD, {**OLD, "more": 1}, ("['rate']",), "config['rate']"),
        ({1: 2, 3: 4}, {1: 2, 3: 5}, ("[1]",), "config[1]"),
        (Box(lr=1, seed=1), Box(lr=1, seed=2), (".lr",), "config.lr"),
        (Box(lr=1, seed=1), Box(lr=1, seed=2), (".half",), None),
        ({"a": {"b": 1}, "c": 1}, {"a": {"b": 2}, "c": 1}, ("['a']",), None),
        ({"a": {"b": 1}, "c": 1}, {"a": {"b": 2}, "c": 1}, ("['c']",), "config['c']"),
        ([1, 2], [1, 3], ("[0]",), "config[0]"),
    ],
)
def test_differences_outside_the_parts_that_were_read_are_dropped(before, after, parts, expected):
    """A part counts only if both values have it; properties do not count."""
    seen = Observed(read={"config": parts})
    said = _cleared(before, after, seen, seen)
    assert said == (expected and f"not read: the cell reads only {expected}")


def test_a_class_is_read_by_its_objects():
    """The shell's results are read under other names, too: neither is cleared."""
    assert _cleared(Box, OLD, Observed(), Observed()) is None
    assert _cleared(OLD, NEW, Observed(), Observed(), name="_3") is None
    assert _cleared(OLD, NEW, Observed(), Observed(), name="helper.config") is None
