"""A restored snapshot gives the same next numbers, after any draws."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch._subclasses.fake_tensor import FakeTensorMode

import ipytorchseed as its
from ipytorchseed.errors import StateError
from ipytorchseed.rng.mersenne import Twister
from ipytorchseed.rng.torch_random import Queue
from tests.rng.draws import SOURCES, across, draw
from tests.rng.known import find_source

pytestmark = pytest.mark.usefixtures("put_back")


@given(before=across(), after=across())
def test_restore_gives_the_same_next_numbers(before, after):
    """After any draws, restoring a snapshot repeats the draws after it."""
    draw(before)
    snapshot = its.snapshot()
    expected = draw(after)
    its.restore(snapshot)
    assert its.snapshot().digests == snapshot.digests
    assert draw(after) == expected


LAZY = """
import numpy, ipytorchseed as its
kept = {}
first = numpy.random.rand()
{}
print(first == numpy.random.rand())
"""


@pytest.mark.parametrize(
    ("kept", "back"),
    [
        ("its.snapshot()", "its.restore(kept)"),
        ("its.RandomState().state_dict()", "its.RandomState().load_state_dict(kept)"),
    ],
)
def test_numpy_is_kept_before_its_random_numbers_are_imported(kept, back):
    """``import numpy`` does not load ``numpy.random`` since numpy 2.

    The first draw does.
    """
    code = LAZY.format(kept, back)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


@given(before=across(), after=across(), other=st.integers(0, 2**32 - 1))
def test_restore_undoes_seeding(before, after, other):
    """A snapshot restores the states before ``seed``."""
    draw(before)
    snapshot = its.snapshot()
    expected = draw(after)
    its.seed(other)
    draw(after[:1])
    its.restore(snapshot)
    assert draw(after) == expected


@given(before=across(), after=across())
def test_one_source_put_back_leaves_the_others_alone(before, after):
    """Writing one source's state moves no other source."""
    for name in SOURCES:
        draw(before)
        state = find_source(name).read()
        draw(after)
        others = {each: s for each, s in its.snapshot().states.items() if each != name}
        find_source(name).write(state)
        assert its.snapshot().states == {**others, name: state}


def test_a_snapshot_can_be_put_back_many_times():
    """It can be restored again."""
    its.seed(1)
    snapshot = its.snapshot()
    numbers = []
    for _ in range(3):
        its.restore(snapshot)
        numbers.append((random.random(), np.random.random(), torch.rand(1).item()))
    assert numbers[0] == numbers[1] == numbers[2]


@pytest.mark.parametrize(
    "mode",
    [FakeTensorMode(), torch.device("meta"), torch.inference_mode()],
    ids=["fake tensors", "meta as the default device", "inference mode"],
)
def test_snapshots_hold_real_states_under_any_mode(mode):
    """Taking and restoring one works if tensors are fake, absent or frozen."""
    its.seed(1)
    plain = its.snapshot()
    with mode:
        within = its.snapshot()
        random.random()
        its.seed(2)
        its.restore(plain)
        after = its.snapshot()
    assert within.states == plain.states == after.states == its.snapshot().states


# --------------------------------------------------------------------------------------------------
# numpy's legacy generator on another engine


def test_the_legacy_generator_is_put_back_on_another_engine():
    """After ``np.random.set_bit_generator``, seed, snapshot and restore follow."""
    np.random.set_bit_generator(np.random.PCG64(1))
    its.seed(42)
    first = its.snapshot().digests
    np.random.standard_normal()  # caches a second one
    snapshot = its.snapshot()
    expected = np.random.standard_normal(3).tolist()
    its.restore(snapshot)
    assert np.random.standard_normal(3).tolist() == expected
    np.random.standard_normal(2)
    its.seed(42)
    assert its.snapshot().digests == first


def test_a_state_of_another_engine_is_refused():
    """MT19937's state does not fit PCG64, or the reverse.

    The error names both.
    """
    twister = its.snapshot()
    engine = np.random.get_bit_generator()
    np.random.set_bit_generator(np.random.PCG64(1))
    pcg = its.snapshot()
    message = "this state is of numpy's MT19937, but the generator now runs on PCG64"
    with pytest.raises(StateError, match=message):
        its.restore(twister)
    np.random.set_bit_generator(engine)
    message = "this state is of numpy's PCG64, but the generator now runs on MT19937"
    with pytest.raises(StateError, match=message):
        its.restore(pcg)


# --------------------------------------------------------------------------------------------------
# Restoring that fails moves nothing


def _snapshot(**states):
    return its.Snapshot(states, Queue.read())


def _changed(name, state):
    """Return another snapshot in which one source's state is ``state``."""
    before = its.snapshot()
    its.seed(6)
    other = its.snapshot()
    its.restore(before)
    return _snapshot(**{**other.states, name: state})


_WORDS = bytes(2496)


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("python", b""),
        ("python", b"short"),
        ("python", Twister(_WORDS, 625, None).pack()),
        ("python", Twister(_WORDS, -1, None).pack()),
        ("numpy", b""),
        ("numpy", b"no JSON"),
        ("numpy", b"\xff\xfe\xfd"),
        ("numpy", b"5"),
        ("numpy", b'{"bit_generator": "MT19937"}'),
        ("numpy", b'{"bit_generator": "MT19937", "state": {"key": [1], "pos": 3}}'),
        ("numpy", Twister(_WORDS, 2**31 - 1, None).pack()),
        ("torch.cpu", b""),
        ("torch.cpu", b"short"),
        ("torch.cpu", bytes(16)),
        ("torch.cpu", b"\xff" * 5056),
    ],
)
def test_a_state_that_does_not_fit_is_refused_and_nothing_moves(name, state):
    """Damaged states raise ``StateError``, and earlier sources are restored."""
    broken = _changed(name, state)
    before = its.snapshot()
    with pytest.raises(StateError):
        its.restore(broken)
    assert its.snapshot().states == before.states


def test_a_snapshot_of_more_sources_than_there_are_is_refused_and_nothing_moves():
    """A state for a device that has not started cannot be restored yet."""
    wide = _changed("torch.cuda:0", bytes(16))
    before = its.snapshot()
    with pytest.raises(StateError, match=r"holds torch\.cuda:0, which this process does not have"):
        its.restore(wide)
    assert its.snapshot().states == before.states


@pytest.mark.parametrize("value", [None, {}, b"", "snapshot"])
def test_restore_takes_a_snapshot_only(value):
    """The error names other types."""
    with pytest.raises(StateError, match=f"not {type(value).__name__}"):
        its.restore(value)


class Hasty:
    """A source whose ``write`` moves before it fails."""

    def __init__(self):
        self.state = b"here"
        self.error = RuntimeError("hasty")

    def write(self, state):
        """Move, and fail except when restoring."""
        self.state = state
        if state != b"here":
            raise self.error


@pytest.mark.parametrize("error", [RuntimeError("hasty"), KeyboardInterrupt()])
def test_a_source_that_fails_halfway_is_put_back_too(error):
    """It and those before it are restored, also after an interrupt."""
    hasty = Hasty()
    hasty.error = error
    its.register_source("hasty", seed=print, read=lambda: hasty.state, write=hasty.write)
    broken = _changed("hasty", b"there")
    before = its.snapshot()
    expected = StateError if isinstance(error, RuntimeError) else KeyboardInterrupt
    with pytest.raises(expected):
        its.restore(broken)
    assert hasty.state == b"here"
    assert its.snapshot().states == before.states


def test_a_snapshot_shows_its_digests_not_its_bytes():
    """Its text is one line of names and short digests.

    Its states cannot be changed.
    """
    snapshot = its.snapshot()
    assert str(snapshot) == ", ".join(f"{n} {d[:8]}" for n, d in snapshot.digests.items())
    assert repr(snapshot) == "Snapshot()"
    with pytest.raises(TypeError):
        snapshot.states["python"] = b""


def test_a_snapshot_can_be_pickled():
    """It can be restored in another process.

    Queued seeds for a GPU are not in it.
    """
    its.seed(3)
    snapshot = its.snapshot()
    kept = pickle.loads(pickle.dumps(snapshot))  # noqa: S301 -- our own
    random.random()
    its.restore(kept)
    assert its.snapshot() == kept == snapshot
    with pytest.raises(TypeError):
        kept.states["python"] = b""
