"""Whether a cell heeds the order of a value's items, or whether it is a list or a tuple."""

from __future__ import annotations

import pytest

from ipytorchseed.reads.unordered import heeds_no_order, takes_any_sequence


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("y = sorted(x)", True),
        ("y = sorted(set(x)), len(x), 3 in x", True),
        ("for each in sorted(list(x)):\n    use(each)", True),
        ("y = sorted(x, key=f)", False),
        ("y = set(x)", False),
        ("y = sorted(x) + x", False),
        ("y = [each for each in x]", False),
        ("sorted = list\ny = sorted(x)", False),
        ("y = 1", False),
        ("y = sorted(x", False),
    ],
)
def test_order_of_items(source, told):
    """It is heeded by all that is not known to sort, count or search them."""
    assert heeds_no_order(source, "x") is told


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("y = np.zeros(x)", True),
        ("y = torch.ones(*x).sum(), x[0]", True),
        ("for each in x:\n    use(each)", True),
        ("y = [each for each in x]", True),
        ("y = table[x]", False),
        ("print(x)", False),
        ("y = isinstance(x, list)", False),
        ("y = x + x", False),
        ("y = f'{x}'", False),
        ("y = mine(x)", False),
        ("x", False),
        ("y = 1", False),
    ],
)
def test_lists_and_tuples(source, told):
    """They are told apart by an index, by what is shown, by their class, and by the user's code."""
    assert takes_any_sequence(source, "x", {"mine"}) is told
