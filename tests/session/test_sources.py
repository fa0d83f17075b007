"""The states of all sources at one moment, whichever changed since the last look."""

from __future__ import annotations

import random
import struct

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import ipytorchseed as its
from ipytorchseed.rng.source import digest
from ipytorchseed.rng.table import sources
from ipytorchseed.session.sources import States, StateWatch, with_origins
from tests.rng.draws import across, draw

pytestmark = pytest.mark.usefixtures("put_back")


def truth():
    """Return the state of each source that can be read."""
    states = {source.name: source.read() for source in sources()}
    return {name: state for name, state in states.items() if state is not None}


@given(moves=st.lists(across() | st.integers(0, 3), max_size=6))
def test_each_look_tells_the_states_as_they_are(moves):
    """After draws with a cached value, seeds, and restored states."""
    watch, kept = StateWatch(), its.snapshot()
    for move in moves:
        if isinstance(move, int):
            its.seed(move)
        elif move:
            draw(move)
        else:
            its.restore(kept)
        states = truth()
        told = watch.read()
        assert told.digests == {name: digest(state) for name, state in states.items()}
        assert {name: told.kept[each] for name, each in told.digests.items()} == states
        assert told.notes == ()


def test_what_did_not_move_is_not_named_again(monkeypatch):
    """A state is digested once, until it changes."""
    watch = StateWatch()
    first = watch.read()
    asked = []
    monkeypatch.setattr("ipytorchseed.session.sources.digest", lambda _: asked.append(1) or "new")
    assert watch.read().digests == first.digests
    assert not asked


def test_a_source_that_raises_is_noted():
    """The other sources are read."""

    def broken():
        raise ValueError("no state today")

    from ipytorchseed.rng import table
    from ipytorchseed.rng.source import Library, Source

    source = Source("dice", seed=print, read=broken, write=print)
    table._registered["dice"] = Library("dice", "sys", lambda: print, lambda: (source,))
    try:
        states = StateWatch().read()
    finally:
        del table._registered["dice"]
    assert states.notes == ("dice cannot be read: ValueError: no state today",)
    assert "torch.cpu" in states.digests


def test_what_moves_during_a_cell_that_runs_no_code_moved_between_runs(notebook, monkeypatch):
    """A thread or another extension drew, not the cell.

    A later run reports it.
    """
    began = notebook.run("x = 1")
    monkeypatch.setattr(notebook, "_execute", lambda _: random.random())
    during = notebook.run("x = 2")
    monkeypatch.undo()
    after = notebook.run("x = 3")
    assert during.after == during.before == began.after
    assert after.between == {"python": (during.after["python"], after.before["python"])}


# --------------------------------------------------------------------------------------------------
# Devices that start during a run


def _states(**states):
    digests = {name: digest(state) for name, state in states.items()}
    return States(digests, {digests[name]: state for name, state in states.items()})


def test_where_a_device_began_is_told_by_its_state():
    """The state of a Philox generator has the seed; the initial offset was 0."""
    began, moved, cpu = _philox(7, 0), _philox(7, 60), torch.get_rng_state().numpy().tobytes()
    before = _states(python=b"p")
    after = _states(python=b"q", **{"torch.cuda:0": moved, "torch.cpu": cpu})
    found = with_origins(before, after, lambda _: False)
    assert found.digests == {**before.digests, "torch.cuda:0": digest(began)}
    assert found.kept[digest(began)] == began
    assert with_origins(before, after, lambda name: name == "torch.cuda:0") == before
    assert with_origins(after, after, lambda _: False) == after


def _philox(seed, offset):
    return struct.pack("<QQ", seed, offset)
