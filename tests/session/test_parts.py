"""What is told of values only where a cell reads it."""

from __future__ import annotations

import mmap

import numpy as np
import pytest
import torch

from ipytorchseed.fingerprint import fingerprint
from ipytorchseed.session.parts import with_parts


@pytest.mark.parametrize(
    "value",
    [np.arange(20.0).reshape(10, 2), torch.arange(20.0).reshape(10, 2)],
    ids=["np", "torch"],
)
def test_of_places_that_code_names(value):
    """Rows and columns are told apart; another type of the same numbers is another content."""

    def told():
        wanted = {"k:[:4]", "k:[:,0]", "k:[8]", "k:[30]", "a:shape"}
        parts = with_parts(value, fingerprint(value), wanted, fingerprint).parts
        return {name: each for name, each in parts.items() if name[:3] == "k:["}

    before = told()
    assert before.keys() == {"k:[:4]", "k:[:,0]", "k:[8]"}
    value[8, 1] = 77
    after = told()
    assert {name for name in before if before[name] != after[name]} == {"k:[8]"}


def test_of_places_of_nobody_elses_class_or_memory():
    """What a class of the user's gives for a place is not asked; what may be gone is not read."""

    class Loud(list):
        def __getitem__(self, place):
            raise AssertionError(place)

    weights = torch.ones(3, requires_grad=True)
    lent = np.frombuffer(mmap.mmap(-1, 80))
    for value in (Loud([1, 2]), np.zeros(3).view(np.recarray), weights, lent, "text", {0: 1}):
        before = fingerprint(value)
        assert with_parts(value, before, {"k:[0]"}, fingerprint) == before


class Counted(torch.utils.data.Dataset):
    """As long as two things that it holds together."""

    def __init__(self, first, second):
        self.first, self.second = first, second

    def __len__(self):
        return len(self.first) + len(self.second)


def length_of(value):
    """Return what is told of a value's length."""
    return with_parts(value, fingerprint(value), {"a:__len__"}, fingerprint).parts.get("a:__len__")


def test_length_is_told_in_one_order():
    """Whatever order a set of names has in this process."""
    first, second = (torch.utils.data.TensorDataset(torch.zeros(n)) for n in (3, 7))
    told = length_of(torch.utils.data.DataLoader(Counted(first, second)))
    assert told
    assert told.index("3") < told.index("7")


def test_length_that_hangs_on_too_much_is_not_told():
    """Of thousands of data sets, and of those that hold themselves; the look goes on."""
    one = torch.utils.data.TensorDataset(torch.zeros(3))
    assert length_of(torch.utils.data.ConcatDataset([one] * 3))
    assert length_of(torch.utils.data.ConcatDataset([one] * 3_000)) is None
    around = Counted(one, one)
    around.first = torch.utils.data.DataLoader(around)
    assert length_of(around.first) is None
