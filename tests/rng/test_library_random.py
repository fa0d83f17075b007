"""Streams of other libraries are seeded if imported, and read if possible.

Libraries that are not installed are replaced by fakes with the few names that are used.
"""

from __future__ import annotations

import ctypes
import sys
from types import ModuleType

import pytest

import ipytorchseed as its
from ipytorchseed.errors import StateError
from ipytorchseed.rng import mersenne
from ipytorchseed.rng.position import Position
from ipytorchseed.rng.table import locate, sources
from tests.fingerprint.child import in_child
from tests.rng.known import find_source

pytestmark = pytest.mark.usefixtures("put_back")


@pytest.fixture
def numba(monkeypatch):
    """The memory of an imported numba's states. Seeding fills it as numba does."""
    states = {which: ctypes.create_string_buffer(2512) for which in ("np", "py")}
    helpers = ModuleType("numba._helperlib")

    def rnd_seed(address, value):
        words = mersenne.seeded(value, "knuth").words
        ctypes.memmove(address, (624).to_bytes(4, "little") + words + bytes(12), 2512)

    helpers.rnd_seed = rnd_seed
    for which, state in states.items():
        name = f"rnd_get_{which}_state_ptr"
        setattr(helpers, name, lambda state=state: ctypes.addressof(state))
    monkeypatch.setitem(sys.modules, "numba._helperlib", helpers)
    return states


def test_numba_is_seeded_and_located(numba):
    """Both of its streams."""
    its.seed(42)
    for name in ("numba", "numba.python"):
        source = find_source(name)
        assert locate(source, source.state()) == Position(42, 0)


def test_numba_is_put_back_with_its_cached_normal(numba):
    """All bytes that affect the next numbers are restored."""
    its.seed(42)
    numba["np"][2500:2512] = (1).to_bytes(4, "little") + bytes(range(8))
    before = numba["np"].raw
    kept = its.snapshot()
    its.seed(7)
    assert numba["np"].raw != before
    its.restore(kept)
    assert numba["np"].raw == before


@pytest.mark.parametrize(("value", "given"), [(42, 42), (2**32 - 1, -1)])
def test_opencv_is_given_a_signed_integer(monkeypatch, value, given):
    """Its function accepts no other."""
    cv2, seeds = ModuleType("cv2"), []
    cv2.setRNGSeed = seeds.append
    monkeypatch.setitem(sys.modules, "cv2", cv2)
    its.seed(value)
    assert seeds == [given]


def _sample_twice():
    import polars as pl  # its threads would not follow later tests into forked processes

    numbers = pl.Series(range(1000))
    found = []
    for _ in range(2):
        its.seed(42)
        found.append(numbers.sample(5).to_list())
    return found


def test_polars_is_seeded():
    """The same seed, the same sample."""
    first, second = in_child(_sample_twice)
    assert first == second


def _unreadable():
    import polars as pl  # noqa: F401 -- as above

    source = find_source("polars")
    with pytest.raises(StateError, match="polars can be seeded, but not restored"):
        source.write(b"")
    return [source.state() is None, "polars" in its.snapshot().digests]


def test_a_stream_that_cannot_be_read_says_so():
    """It has no state in a snapshot, and none can be put back."""
    assert in_child(_unreadable) == [True, False]


def test_nothing_is_imported_for_it():
    """A library that is not imported is not a source."""
    its.seed(42)
    for name in ("cv2", "dgl", "numba", "open3d", "tensorflow"):
        assert name not in sys.modules
        assert name not in {source.name for source in sources()}
