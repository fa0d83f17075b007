"""What was observed not to be read is dropped, with that reason."""

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
    """Explain two runs of a cell that differ in one input.

    Return why it is cleared, or None.
    """
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
    ("first", "second", "told"),
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
def test_what_neither_run_read_is_dropped(first, second, told):
    """And nothing that one of them read, or may have read."""
    said = _cleared(OLD, NEW, first, second)
    assert said is None if told is None else said.startswith(told)


@pytest.mark.parametrize(
    ("before", "after", "parts", "told"),
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
def test_what_differs_beside_the_parts_that_were_read_is_dropped(before, after, parts, told):
    """A part counts only if it is known for both values, and a property is not a part."""
    seen = Observed(read={"config": parts})
    said = _cleared(before, after, seen, seen)
    assert said == (told and f"not read: the cell reads only {told}")


def test_a_class_is_read_by_its_objects():
    """And a result of the shell's by other names: neither is dropped."""
    assert _cleared(Box, OLD, Observed(), Observed()) is None
    assert _cleared(OLD, NEW, Observed(), Observed(), name="_3") is None
    assert _cleared(OLD, NEW, Observed(), Observed(), name="helper.config") is None
