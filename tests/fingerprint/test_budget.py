"""Depth, size and time: a look ends, and says what it left out."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest
import torch

from ipytorchseed.fingerprint import Budget, Memo, digest, fingerprint
from ipytorchseed.fingerprint.value import same
from ipytorchseed.fingerprint.walk import Draft
from tests.fingerprint.values import CHANGED, Plain, spent


def _big():
    return {
        "tensor": torch.zeros(2**20),
        "strided": torch.zeros(2, 2**20).t(),
        "expanded": torch.zeros(1).expand(2**40),
        "array": np.zeros(2**20),
        "columns": np.zeros((2, 2**20)).T,
        "list": [[n] for n in range(5000)],
        "numbers": [0.5] * 2**17,
        "dict": {n: [n] for n in range(5000)},
        "set": {*range(5000)},
        "text": "é" * 2**20,
        "bytes": bytes(2**20),
        "attributes": Plain(**{f"x{n}": [n] for n in range(5000)}),
        "objects": Plain(x=[Plain(n=n) for n in range(5000)]),
        "frame": pd.DataFrame(np.zeros((2**16, 4))),
        "nested": [torch.zeros(2**15) for _ in range(100)],
    }


@pytest.mark.parametrize("name", _big())
def test_large_values_are_sampled_where_the_budget_is_spent(name):
    """They are sampled the same way each time, and not claimed to be exact."""
    value = _big()[name]
    found = fingerprint(value, budget=spent())
    assert not found.exact
    assert found.digest == fingerprint(_big()[name], budget=spent()).digest
    assert not found.opaque


@pytest.mark.parametrize("name", CHANGED)
def test_small_values_are_exact_all_the_same(name):
    """Whatever is left of the time."""
    value = CHANGED[name][0]()
    assert repr(fingerprint(value, budget=spent())) == repr(fingerprint(value))


@pytest.mark.parametrize("make", [torch.zeros, np.zeros], ids=["tensor", "array"])
def test_a_sample_is_of_content_not_of_layout(make):
    """Rows and columns give the same; a change at the ends is seen."""
    value = make((1000, 600))
    other = make((600, 1000)).T
    first = fingerprint(value, budget=spent())
    assert first.digest == fingerprint(other, budget=spent()).digest
    other[-1, -1] = 1
    assert first.digest != fingerprint(other, budget=spent()).digest


def test_what_is_known_stays_exact_when_the_budget_is_spent():
    """A large tensor that the memo can show to be unchanged."""
    value, memo = torch.zeros(2**22), Memo()
    first = fingerprint(value, memo=memo, budget=Budget(60))
    assert fingerprint(value, memo=memo, budget=spent()) == first
    value.add_(1)
    assert not fingerprint(value, memo=memo, budget=spent()).exact


def test_time_is_shared_by_all_values():
    """And only looking takes from it."""
    budget = Budget(0.5)
    time.sleep(0.6)
    assert budget.left > 0
    value = [[n] for n in range(10**6)]
    assert not fingerprint(value, budget=budget).exact
    assert budget.left <= 0
    assert fingerprint([1, [2]], budget=Budget(0.5, used=0.45)).exact  # what is small still fits


def test_a_huge_value_ends_near_the_budget():
    """An expanded tensor of a million million elements has no end."""
    budget = Budget(0.1)
    assert not fingerprint(torch.zeros(1).expand(10**6, 10**6), budget=budget).exact
    assert budget.used < 1


def test_what_cannot_be_read_in_time_leaves_the_time_to_others():
    """Once it is known how fast reading is."""
    value, memo = torch.zeros(1).expand(10**6, 10**4), Memo()
    assert not fingerprint(value, memo=memo, budget=Budget(0.1)).exact
    budget = Budget(0.1)
    assert not fingerprint([value], memo=memo, budget=budget).exact
    assert budget.left > 0


def test_ten_thousand_variables():
    """Take their time each, and no more."""
    budget, memo = Budget(0.2), Memo()
    began = time.thread_time()
    for n in range(10_000):
        fingerprint({"n": n, "x": [n]}, memo=memo, budget=budget)
    assert time.thread_time() - began < 5


def _deep(kind, depth=100_000):
    value: object = 1
    for _ in range(depth):
        value = {
            "list": lambda it: [it],
            "tuple": lambda it: (it,),
            "dict": lambda it: {"x": it},
            "object": lambda it: Plain(x=it),
        }[kind](value)
    return value


@pytest.mark.parametrize("kind", ["list", "tuple", "dict", "object"])
def test_depth_has_no_limit(kind):
    """A hundred thousand levels are gone through, or cut where the time ends."""
    value = _deep(kind, 20_000)
    assert fingerprint(value, budget=Budget(60)).exact
    assert not fingerprint(_deep(kind), budget=Budget(0.02)).exact


def test_a_change_in_the_depth_is_seen():
    """Below a thousand levels, where recursion would end."""
    value: list = [1]
    for _ in range(5000):
        value = [value]
    other: list = [2]
    for _ in range(5000):
        other = [other]
    assert fingerprint(value, budget=Budget(60)) != fingerprint(other, budget=Budget(60))


def test_shared_parts_are_read_once():
    """A list of two times a list of two times ... is no explosion."""
    value: list = [1]
    for _ in range(200):
        value = [value, value]
    assert fingerprint(value).exact


def test_everything_linked_to_everything():
    """Three hundred objects that all know each other."""
    nodes = [Plain(n=n) for n in range(300)]
    for node in nodes:
        node.others = nodes
    first = fingerprint(nodes, budget=Budget(60))
    assert first.exact
    nodes[150].n = -1
    assert fingerprint(nodes, budget=Budget(60)) != first


def test_an_error_of_ours_stays_ours(monkeypatch):
    """Inside a value the rest is read; at the top an opaque fingerprint says so."""

    def broken(value, walk):
        yield from ()
        raise ZeroDivisionError

    original = digest.writer_of
    monkeypatch.setattr(
        digest, "writer_of", lambda kind: broken if kind is Plain else original(kind)
    )
    top = fingerprint(Plain())
    assert (top.opaque, top.exact, top.kind) == (True, False, "opaque")
    assert "ZeroDivisionError" in top.summary
    inside = fingerprint([1, Plain()])
    assert (inside.opaque, inside.exact, inside.kind) == (False, False, "list")
    other = fingerprint([2, Plain()])
    assert inside.digest != other.digest
    assert (same(inside, other), same(inside, inside), same(top, top)) == (False, None, None)
    monkeypatch.setattr(digest, "Walk", None)
    lost = fingerprint([1])
    assert (lost.opaque, lost.exact, lost.summary) == (True, False, "not looked at (TypeError)")


def test_a_draft_begins_empty():
    """No two share their parts."""
    assert Draft(b"", "a").parts is not Draft(b"", "b").parts
