"""Values too large to be read whole.

What a sample shows, and what no one may conclude from it.
"""

from __future__ import annotations

import collections
import copy

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ipytorchseed.fingerprint import Budget, Memo, fingerprint, same
from tests.fingerprint.values import Plain, spent

N = 6_000


def _set(value, place, item):
    value[place] = item


def _frame(value, place, item):
    value.iloc[place, 0] = item


def _attribute(value, place, item):
    value.__dict__[f"a{place:04}"] = item


def _entry(value, place, item):
    value[f"k{place}"] = item


def _module(value, place, item):
    with torch.no_grad():
        value.weight[place] = item


LARGE = {
    "list of ints": (lambda: [*range(N)], _set, N),
    "list of strings": (lambda: [str(n) for n in range(N)], _set, N),
    "list of lists": (lambda: [[n] for n in range(N)], _set, N),
    "deque": (lambda: collections.deque(range(N)), _set, N),
    "dict": (lambda: {f"k{n}": n for n in range(N)}, _entry, N),
    "long dict": (lambda: {f"k{n}": n for n in range(10 * N)}, _entry, 10 * N),
    "ordered dict": (lambda: collections.OrderedDict((f"k{n}", n) for n in range(N)), _entry, N),
    "attributes": (lambda: Plain(**{f"a{n:04}": n for n in range(N)}), _attribute, N),
    "array": (lambda: np.arange(50 * N), _set, 50 * N),
    "strided array": (lambda: np.arange(100 * N)[::2], _set, 50 * N),
    "array of objects": (lambda: np.array([str(n) for n in range(N)], object), _set, N),
    "tensor": (lambda: torch.arange(50 * N), _set, 50 * N),
    "strided tensor": (lambda: torch.arange(100 * N)[::2], _set, 50 * N),
    "bytes": (lambda: bytearray(bytes(50 * N)), _set, 50 * N),
    "frame": (lambda: pd.DataFrame({"x": np.arange(50 * N)}), _frame, 50 * N),
    "module": (lambda: torch.nn.Embedding.from_pretrained(torch.zeros(50 * N, 1)), _module, 50 * N),
}


def look(value, *, whole):
    """Look at a value with or without the time to read it whole."""
    return fingerprint(value, memo=Memo(), budget=Budget(60) if whole else spent())


@pytest.mark.parametrize("name", LARGE)
def test_a_sample_and_the_whole_can_be_held_against_each_other(name):
    """Equal samples prove nothing.

    Only two that were read whole are known to be the same.
    """
    make = LARGE[name][0]
    whole, sample = look(make(), whole=True), look(make(), whole=False)
    assert (whole.exact, sample.exact) == (True, False)
    assert whole.sample == sample.sample == sample.digest
    assert same(whole, look(make(), whole=True)) is True
    assert same(whole, sample) is None
    assert same(sample, look(make(), whole=False)) is None


@pytest.mark.parametrize("name", LARGE)
def test_a_change_at_the_ends_is_always_seen(name):
    """Whichever of the two looks had the time."""
    make, change, length = LARGE[name]
    before = {whole: look(make(), whole=whole) for whole in (True, False)}
    for place in (0, length - 1):
        value = make()
        change(value, place, 7)
        after = {whole: look(value, whole=whole) for whole in (True, False)}
        for one in (True, False):
            for other in (True, False):
                assert same(before[one], after[other]) is False


@pytest.mark.parametrize("name", LARGE)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_a_change_elsewhere_is_seen_or_unknown_and_never_denied(name, data):
    """Read whole it is seen.

    In a sample it may not be, and then no one says that it is the same.
    """
    make, change, length = LARGE[name]
    value = make()
    sampled, whole = look(value, whole=False), look(value, whole=True)
    place = data.draw(st.integers(0, length - 1).filter(lambda it: it not in (125, 250)))
    change(value, place, 250)
    assert same(whole, look(value, whole=True)) is False
    assert same(sampled, look(value, whole=False)) is not True
    assert same(whole, look(value, whole=False)) is not True


def test_the_same_places_are_sampled_each_time():
    """So that a change which was seen once is seen again."""
    for make, change, length in LARGE.values():
        value = make()
        change(value, length // 3, 250)
        seen, again = (look(each, whole=False) for each in (value, copy.deepcopy(value)))
        assert (seen.digest, seen.sample) == (again.digest, again.sample)


def test_another_size_is_a_change():
    """Between a small value, always read whole, and a sample of a large one."""
    assert same(fingerprint([1, 2]), look([*range(N)], whole=False)) is False
    assert same(look(torch.zeros(50 * N), whole=False), fingerprint(torch.zeros(3))) is False


def test_of_a_set_only_the_size_can_be_sampled():
    """Its order is not content, so there are no places to take a sample from."""
    one, other = look({*range(N)}, whole=False), look({*range(1, N + 1)}, whole=False)
    assert same(one, other) is None
    assert same(one, look({*range(N + 1)}, whole=False)) is False
    assert same(look({*range(N)}, whole=True), look({*range(1, N + 1)}, whole=True)) is False


def test_an_integer_of_millions_of_digits_is_read_like_other_memory():
    """Whole where there is time, and else by a sample."""
    huge = 1 << 8 * 20_000_000
    first = look(huge, whole=True)
    assert (first.exact, first.summary) == (True, "int of 160,000,001 bits")
    for other in (huge + 1, huge + (1 << 8 * 10_000_000)):
        assert same(first, look(other, whole=True)) is False
    assert not look(huge, whole=False).exact
    assert same(look(huge, whole=False), look(huge + 1, whole=False)) is False


def test_where_no_time_is_left_nothing_is_claimed():
    """Not even a sample is taken, and nothing follows from that.

    Short values cost nothing.
    """
    over = Budget(1, used=1)
    lost = fingerprint([1, 2], budget=over)
    assert (lost.digest, lost.exact, lost.kind) == ("", False, "unread")
    assert same(lost, fingerprint([1, 2])) is None
    assert same(lost, lost) is None
    assert fingerprint(3, budget=over) == fingerprint(3)


def test_a_value_that_did_not_fit_is_sampled_at_once_the_next_time():
    """The time is spent once; where there is much more of it, reading is tried again."""
    value, memo = [[n] for n in range(100 * N)], Memo()
    assert not memo.is_too_slow(value, 0.04)
    assert not fingerprint(value, memo=memo, budget=Budget(0.05)).exact
    assert memo.is_too_slow(value, 0.04)
    assert not fingerprint(value, memo=memo, budget=Budget(0.05)).exact
    assert fingerprint(value, memo=memo, budget=Budget(60)).exact
