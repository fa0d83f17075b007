"""Digests name states, and reading a state changes nothing."""

from __future__ import annotations

import random
import threading
import time

import numpy as np
import pytest
import torch
from hypothesis import given
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

import ipytorchseed as its
from ipytorchseed.rng import mersenne, numpy_random, python_random, torch_random
from ipytorchseed.rng.source import digest
from ipytorchseed.rng.table import sources
from tests.rng.draws import SOURCES, across, draw
from tests.rng.known import find_source

pytestmark = pytest.mark.usefixtures("put_back")


def test_every_built_in_source_of_this_machine_is_read():
    """With numpy and torch imported, and no device started, these three."""
    assert [source.name for source in sources()][:3] == ["python", "numpy", "torch.cpu"]
    assert [*its.snapshot().digests][:3] == ["python", "numpy", "torch.cpu"]


def test_a_digest_is_16_hex_digits_of_the_whole_state():
    """A digest is 16 hex digits, and one changed byte anywhere changes it."""
    state = find_source("torch.cpu").read()
    assert len(digest(state)) == 16
    assert int(digest(state), 16) >= 0
    changed = {digest(state[:at] + bytes([state[at] ^ 1]) + state[at + 1 :]) for at in range(99)}
    assert len(changed) == 99
    assert digest(state) not in changed


@given(before=across())
def test_seeding_twice_gives_equal_digests(before):
    """After any draws, seeding with 42 gives the same digest for every source."""
    its.seed(42)
    first = its.snapshot().digests
    draw(before)
    its.seed(42)
    assert its.snapshot().digests == first


def test_another_seed_gives_other_digests():
    """42 and 43 leave no source in the same state."""
    its.seed(42)
    one = its.snapshot().digests
    its.seed(43)
    other = its.snapshot().digests
    assert all(one[name] != other[name] for name in one)


@pytest.mark.parametrize(
    ("name", "once", "twice"),
    [
        ("python", lambda: random.gauss(0, 1), lambda: [random.gauss(0, 1) for _ in "ab"]),
        ("numpy", lambda: np.random.standard_normal(1), lambda: np.random.standard_normal(2)),
        ("torch.cpu", lambda: torch.randn(1), lambda: torch.randn(2)),
    ],
)
def test_a_digest_covers_the_normal_number_in_stock(name, once, twice):
    """One normal and two take the same raw numbers.

    Only the one leaves another in stock.
    """
    source = find_source(name)
    its.seed(42)
    once()
    one, position_of_one = source.read(), source.locate(source.read(), (42,))
    its.seed(42)
    twice()
    two, position_of_two = source.read(), source.locate(source.read(), (42,))
    assert position_of_one == position_of_two
    assert digest(one) != digest(two)


@given(before=across())
def test_looking_draws_nothing(before):
    """Reading does not change the next numbers."""
    its.seed(7)
    draw(before)
    expected = draw([(name, "a block") for name in SOURCES])
    its.seed(7)
    draw(before)
    for source in sources():
        source.locate(source.read(), ())
    str(its.snapshot())
    assert draw([(name, "a block") for name in SOURCES]) == expected


@pytest.mark.parametrize(
    ("make", "draw_some", "read", "scheme"),
    [
        (random.Random, lambda it: [it.random() for _ in "abc"], python_random.read, "array"),
        (
            np.random.RandomState,
            lambda it: it.random_sample(1000),
            numpy_random.read,
            "knuth",
        ),
    ],
    ids=["python", "numpy"],
)
def test_a_state_read_while_another_thread_draws_is_one_that_the_stream_had(
    make, draw_some, read, scheme
):
    """A read never happens between two writes of a draw.

    Each state that is read is a state of the stream, and later than the one before.
    """
    generator, done = make(42), threading.Event()

    def draw_until_done():
        while not done.is_set():
            draw_some(generator)

    thread = threading.Thread(target=draw_until_done)
    thread.start()
    states: dict[bytes, None] = {}
    try:
        while len(states) < 50:
            states[read(generator)] = None
            time.sleep(0)  # lets the other thread have the interpreter
    finally:
        done.set()
        thread.join()
    at = mersenne.seeded(42, scheme)
    for state in states:
        now = mersenne.Twister.unpack(state)
        step = mersenne.distance(at, now)
        assert step is not None
        assert step % 2 == 0  # a float takes two
        at = now


class Watch:
    """A mode that records operations."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def _pass(self, function, _types, args=(), kwargs=None):
        self.seen.append(function)
        return function(*args, **(kwargs or {}))


class WatchDispatch(Watch, TorchDispatchMode):
    """Records operations in the dispatcher."""

    __torch_dispatch__ = Watch._pass


class WatchFunctions(Watch, TorchFunctionMode):
    """Records calls of torch's functions and methods."""

    __torch_function__ = Watch._pass


@pytest.mark.parametrize("kind", [WatchDispatch, WatchFunctions])
def test_reading_is_not_seen_by_a_mode_that_watches_operations(kind):
    """A user's or profiler's mode gets no operation of ours, but does get the user's."""
    state = torch_random.read(torch.default_generator)
    with kind() as watch:
        assert torch_random.read(torch.default_generator) == state
        its.snapshot()
        assert watch.seen == []
        torch.rand(1)
        assert watch.seen != []
