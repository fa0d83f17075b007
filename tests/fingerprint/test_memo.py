"""What is known need not be read again, and what changed is read."""

from __future__ import annotations

from inspect import getclosurevars

import numpy as np
import pytest
import torch
from torch import nn

from ipytorchseed.fingerprint import Budget, Memo, elements, fingerprint, memory
from ipytorchseed.fingerprint.functions import code_digest
from ipytorchseed.fingerprint.meter import REREAD


@pytest.fixture
def reads(monkeypatch):
    """Count the bytes of tensors that are read in full."""
    counted, original = [], elements.Elements.whole

    def count(self, walk):
        counted.append(self.size)
        return original(self, walk)

    monkeypatch.setattr(elements.Elements, "whole", count)
    return counted


def _budget(reread=0):
    return Budget(60, reread=reread)


def test_an_unchanged_tensor_is_not_read_again(reads):
    """Its fingerprint is the same, and exact."""
    value, memo = torch.zeros(2**20), Memo()
    first = fingerprint(value, memo=memo, budget=_budget())
    second = fingerprint(value, memo=memo, budget=_budget())
    assert reads == [2**22]
    assert first == second
    assert second.exact


def test_small_tensors_are_always_read(reads):
    """Known or not, up to the allowance of a round."""
    value, memo = torch.zeros(2**20), Memo()
    fingerprint(value, memo=memo, budget=_budget())
    budget = _budget(REREAD)
    for _ in range(REREAD // 2**22 + 3):
        fingerprint(value, memo=memo, budget=budget)
    assert len(reads) == 1 + REREAD // 2**22
    assert budget.reread == 0


WRITES = {
    "in place": lambda it: it[0].add_(1),
    "data": lambda it: it.data.add_(1),
    "numpy": lambda it: np.add(it.numpy(), 1, out=it.numpy()),
    "inference mode": torch.inference_mode()(lambda it: it.add_(1)),
    "a view": lambda it: it.view(-1)[5:].mul_(2).add_(1),
    "set_": lambda it: it.set_(torch.ones_like(it)),
    "data set": lambda it: setattr(it, "data", torch.ones_like(it)),
    "storage": lambda it: it.untyped_storage().fill_(1),
}


@pytest.mark.parametrize("reread", [0, REREAD])
@pytest.mark.parametrize("write", WRITES)
def test_writes_of_every_way_are_seen(write, reread):
    """Counted by torch or not, with or without the allowance to read again."""
    value, memo = torch.zeros(512, 512), Memo()
    first = fingerprint(value, memo=memo, budget=_budget(reread))
    WRITES[write](value)
    second = fingerprint(value, memo=memo, budget=_budget(reread))
    assert first.digest != second.digest
    assert second == fingerprint(value)


def test_an_uncounted_write_of_one_element_is_seen_within_the_allowance():
    """Beyond it, where it misses the sample, it is not.

    That is the price, and it is written.
    """
    value, memo = torch.zeros(2**20), Memo()
    first = fingerprint(value, memo=memo, budget=_budget())
    starts = memory.starts(2**20, memory.PROOF[0], memory.PROOF[1] // 4)
    value.data[starts[1] + 100] = 1
    assert fingerprint(value, memo=memo, budget=_budget()) == first
    assert fingerprint(value, memo=memo, budget=_budget(REREAD)) != first


def test_another_tensor_at_the_same_address_is_another():
    """Also where Python gives it the identity of one that is gone."""
    memo, seen = Memo(), set()
    for n in range(50):
        value = torch.zeros(2**16)
        value[777] = n
        seen.add(fingerprint(value, memo=memo, budget=_budget()).digest)
        del value
    assert len(seen) == 50


@pytest.mark.parametrize("alias", [lambda it: it.data, lambda it: it.detach()])
def test_a_version_is_of_one_tensor(alias):
    """Each ``.data`` is another tensor, whose count of writes begins again.

    Where the one before it is gone, the next often has its address, and its id in Python.
    """
    value, memo = torch.zeros(2**20), Memo()
    for n in range(50):
        value[777] = n
        again = alias(value)
        assert fingerprint(again, memo=memo, budget=_budget()) == fingerprint(again)
        del again


def test_memory_that_a_tensor_shares_is_read(reads):
    """A write through the other tensor may be counted there alone."""
    value, memo = torch.zeros(2**18), Memo()
    shared = value.data
    for _ in range(3):
        fingerprint(value, memo=memo, budget=_budget())
    assert len(reads) == 3
    del shared
    fingerprint(value, memo=memo, budget=_budget())
    assert len(reads) == 3


def test_views_and_aliases_share_no_knowledge_wrongly():
    """A part of a known tensor, and another shape of it, are read for themselves."""
    memo, value = Memo(), torch.arange(2.0**18)
    for view in (value, value[2**16 :], value.view(2, -1), value.flip(0), value.view(torch.int32)):
        assert fingerprint(view, memo=memo, budget=_budget()) == fingerprint(view)


def test_inference_tensors_are_always_read(reads):
    """Torch counts no writes to them."""
    memo = Memo()
    with torch.inference_mode():
        value = torch.zeros(2**18)
    for _ in range(3):
        fingerprint(value, memo=memo, budget=_budget())
    assert len(reads) == 3


def test_dead_tensors_are_forgotten():
    """The memo does not grow with what has gone."""
    memo = Memo()
    for _ in range(3000):
        fingerprint(torch.zeros(2**15), memo=memo, budget=_budget())
    assert len(memo._tensors) <= 1024


def test_a_model_is_as_without_memo():
    """Trained meanwhile or not."""
    memo, net = Memo(), nn.Sequential(*(nn.Linear(256, 256, device="meta") for _ in range(3)))
    net.to_empty(device="cpu")
    for parameter in net.parameters():
        nn.init.zeros_(parameter)
    for _ in range(3):
        found = fingerprint(net, memo=memo, budget=_budget())
        assert found == fingerprint(net)
        net(torch.ones(1, 256)).sum().backward()
        with torch.no_grad():
            net[2].bias.add_(1)


def test_code_is_read_once():
    """And forgotten with its function."""
    made = eval("lambda x: x + 1")  # noqa: S307 -- a new code object
    address, known = id(made.__code__), getclosurevars(code_digest).nonlocals["known"]
    assert fingerprint(made) == fingerprint(made)
    assert address in known
    del made
    assert address not in known
