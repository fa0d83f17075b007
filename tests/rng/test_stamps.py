"""Stamps: what tells at a glance whether a source moved, without naming its state."""

from __future__ import annotations

import pytest
from hypothesis import given

from ipytorchseed.rng import torch_random
from ipytorchseed.rng.table import find_source, sources
from tests.rng.draws import across, draw

pytestmark = pytest.mark.usefixtures("put_back")

BUILT_IN = ("python", "numpy", "torch.cpu")


def look():
    """Return stamp and state of each source."""
    return {name: (find_source(name).stamp(), find_source(name).read()) for name in BUILT_IN}


def test_the_built_in_sources_of_the_cpu_have_stamps():
    """They are looked at twice a cell."""
    assert {source.name for source in sources() if source.stamp} >= {*BUILT_IN}


def test_the_memory_of_torch_is_found_here():
    """On this system the stamp of torch.cpu is the generator's memory, not its state again."""
    stamp, state = look()["torch.cpu"]
    assert stamp != state
    assert find_source("torch.cpu").read() == state


def test_where_its_memory_cannot_be_told_the_state_is_the_stamp(monkeypatch):
    """As on a system whose C library does not know the size of what it gave."""
    monkeypatch.setattr(torch_random, "_size_at", lambda _: 0)
    stamp, state = look()["torch.cpu"]
    assert stamp == state


def test_the_size_of_foreign_memory_is_not_taken(monkeypatch):
    """A size is believed only where the state's words are found within it."""
    torch_random._size_at.cache_clear()
    monkeypatch.setattr(torch_random, "read", lambda _: bytes(5056))
    try:
        assert torch_random._size_at(torch_random.default_generators()[0]._cdata) == 0
    finally:
        torch_random._size_at.cache_clear()


@given(before=across(), after=across())
def test_a_stamp_is_another_whenever_the_state_is(before, after):
    """Whatever was drawn, with whatever left in stock; and nothing drawn leaves it as it is."""
    draw(before)
    first = look()
    assert look() == first
    draw(after)
    for name, (stamp, state) in look().items():
        if state != first[name][1]:
            assert stamp != first[name][0], name
