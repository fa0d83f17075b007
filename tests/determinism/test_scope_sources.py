"""A deterministic block seeds the sources, and restores them on request."""

from __future__ import annotations

import random
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import ipytorchseed as its

pytestmark = pytest.mark.usefixtures("put_back")

DRAWS = {
    "random.random()": random.random,
    "random.gauss(0, 1)": lambda: random.gauss(0, 1),
    "random.shuffle": lambda: random.shuffle([*range(9)]),
    "np.random.random()": np.random.random,
    "np.random.standard_normal()": np.random.standard_normal,
    "torch.rand(3)": lambda: torch.rand(3),
    "torch.randn(1)": lambda: torch.randn(1),
    "torch.randperm(7)": lambda: torch.randperm(7),
    "its.seed(7)": lambda: its.seed(7),
    "random.seed(3)": lambda: random.seed(3),
    "np.random.seed(3)": lambda: np.random.seed(3),
    "torch.manual_seed(3)": lambda: torch.manual_seed(3),
}


def _states():
    return random.getstate(), str(np.random.get_state()), torch.get_rng_state().tolist()


def _numbers():
    return random.random(), np.random.random(), torch.rand(3).tolist()


# --------------------------------------------------------------------------------------------------
# Seeding


@given(seed=st.integers(0, 2**32 - 1))
def test_a_seed_gives_the_same_numbers_each_time(seed):
    """Two blocks with one seed draw the same from python, numpy and torch."""
    with its.deterministic(seed):
        first = _numbers()
    with its.deterministic(seed):
        assert _numbers() == first
    its.seed(seed)
    assert _numbers() == first


def test_two_seeds_give_other_numbers():
    """Each library draws other numbers."""
    with its.deterministic(1):
        first = _numbers()
    with its.deterministic(2):
        assert all(a != b for a, b in zip(first, _numbers(), strict=True))


def test_without_a_seed_no_source_moves():
    """Beginning and ending a block draws nothing and seeds nothing."""
    before = _states()
    with its.deterministic():
        assert _states() == before
    assert _states() == before


def test_without_isolation_later_code_sees_the_seed_and_the_draws():
    """Sources stay where the block left them, unless asked for."""
    with its.deterministic(5):
        random.random()
        left = _states()
    assert _states() == left


# --------------------------------------------------------------------------------------------------
# Isolation


@pytest.mark.parametrize("seed", [None, 42])
@given(draws=st.lists(st.sampled_from([*DRAWS]), max_size=6))
def test_an_isolated_block_leaves_no_trace_in_any_source(seed, draws):
    """Its draws and seeds do not affect later draws."""
    before = _states()
    with its.deterministic(seed, isolate=True):
        for name in draws:
            DRAWS[name]()
    assert _states() == before


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_isolation_holds_after_an_error(error):
    """Sources are restored after an error too."""
    before = _states()
    with pytest.raises(error), its.deterministic(42, isolate=True):
        _draw_and_raise(error)
    assert _states() == before


def _draw_and_raise(error):
    _numbers()
    raise error


def test_isolation_holds_where_beginning_fails(monkeypatch):
    """Seeded sources are restored if entering the block fails later."""

    def fail(_):
        its.seed(1)
        raise KeyboardInterrupt

    before = _states()
    monkeypatch.setattr("ipytorchseed.determinism.scope.seed_all", fail)
    with pytest.raises(KeyboardInterrupt):
        its.deterministic(42, isolate=True).begin()
    assert _states() == before


def test_isolated_blocks_nest():
    """The inner block restores the stream of the outer block."""
    with its.deterministic(1):
        expected = _numbers(), _numbers()
    before = _states()
    with its.deterministic(1, isolate=True):
        first = _numbers()
        with its.deterministic(2, isolate=True):
            _numbers()
        assert (first, _numbers()) == expected
    assert _states() == before


def test_isolation_puts_back_the_seeds_that_wait_for_cuda():
    """A seed that the block queued for unstarted devices is removed from the queue."""
    torch.cuda.manual_seed_all(1)
    before = {**vars(torch.cuda._lazy_seed_tracker)}
    with its.deterministic(42, isolate=True):
        torch.cuda.manual_seed_all(2)
        torch.cuda.manual_seed(3)
        assert vars(torch.cuda._lazy_seed_tracker) != before
    assert vars(torch.cuda._lazy_seed_tracker) == before


def test_isolation_holds_under_another_default_device():
    """The device of new tensors does not matter."""
    before = _states()
    with torch.device("meta"), its.deterministic(42, isolate=True):
        random.random()
        torch.default_generator.manual_seed(3)
    assert _states() == before


def test_a_registered_source_is_isolated_too():
    """The user's sources are seeded and restored like the others."""
    dice = [3]
    its.register_source(
        "dice",
        seed=lambda value: dice.__setitem__(0, value),
        read=lambda: bytes(dice),
        write=lambda state: dice.__setitem__(0, state[0]),
    )
    with its.deterministic(42, isolate=True):
        assert dice == [42]
    assert dice == [3]


@pytest.mark.skipif(np.__version__ < "2", reason="numpy 1 loads its generators with itself")
def test_isolation_covers_a_library_that_the_block_imports():
    """Numpy's generator, not loaded before, does not stay seeded.

    Its state would have been random.
    """
    program = """
import sys, torch
assert "numpy.random" not in sys.modules
import ipytorchseed as its
with its.deterministic(42, isolate=True):
    import numpy
    seeded = numpy.random.get_state()[1].tolist()
assert numpy.random.RandomState(42).get_state()[1].tolist() == seeded
assert numpy.random.get_state()[1].tolist() != seeded
"""
    subprocess.run([sys.executable, "-c", program], check=True)
