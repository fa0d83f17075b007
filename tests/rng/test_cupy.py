"""CuPy is seeded if imported, and never started. Its state is unknown.

CuPy needs a GPU. It is replaced by a fake with the few names that are used.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType

import pytest

import ipytorchseed as its
from ipytorchseed.errors import StateError
from ipytorchseed.rng.position import UNKNOWN
from ipytorchseed.rng.table import locate, sources
from tests.rng.known import find_source

pytestmark = pytest.mark.usefixtures("put_back")


class RandomState:
    """CuPy's generator of a device."""

    def __init__(self):
        """Begin unseeded."""
        self.seeds = []

    def seed(self, value):
        """Record the seed."""
        self.seeds.append(value)


@pytest.fixture
def cupy(monkeypatch):
    """The generators, by device, of an imported CuPy that has used no device."""
    states: dict[int, RandomState] = {}
    generator = ModuleType("cupy.random._generator")
    generator._random_states = states
    monkeypatch.setenv("CUPY_SEED", "of the user")
    for module in (ModuleType("cupy"), ModuleType("cupy.random"), generator):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return states


def test_without_cupy_nothing_of_it_is_touched(monkeypatch):
    """It is not imported, and its variable is not set."""
    monkeypatch.delenv("CUPY_SEED", raising=False)
    its.seed(42)
    assert "CUPY_SEED" not in os.environ
    assert "cupy" not in sys.modules
    assert not [source for source in sources() if source.name.startswith("cupy")]


def test_devices_in_use_are_seeded(cupy):
    """Each with the seed itself."""
    cupy.update({1: RandomState(), 0: RandomState()})
    its.seed(42)
    assert [cupy[0].seeds, cupy[1].seeds] == [[42], [42]]
    assert [s.name for s in sources() if s.name.startswith("cupy")] == ["cupy"]


def test_devices_yet_to_be_used_find_the_seed_in_the_environment(cupy):
    """CuPy reads it when it creates a generator. No device is started."""
    its.seed(42)
    assert os.environ["CUPY_SEED"] == "42"
    assert cupy == {}


def test_its_state_is_unknown_and_said_so(cupy):
    """It has no digest and no position, and cannot be restored."""
    cupy[0] = RandomState()
    its.seed(42)
    source = find_source("cupy")
    assert source.read() is None
    assert locate(source, b"") == UNKNOWN
    assert "cupy" not in its.snapshot().digests
    with pytest.raises(StateError, match="stream of cupy can be seeded, but not restored"):
        source.write(b"")


def test_restoring_passes_it_by(cupy):
    """The other sources are restored; its stream goes on."""
    cupy[0] = RandomState()
    snapshot = its.snapshot()
    its.seed(42)
    its.restore(snapshot)
    assert cupy[0].seeds == [42]
    assert its.snapshot().states == snapshot.states


def test_cupy_imported_by_halves_finds_the_seed_in_the_environment(monkeypatch):
    """Its submodules may be missing while it is being imported."""
    monkeypatch.setenv("CUPY_SEED", "of the user")
    monkeypatch.setitem(sys.modules, "cupy", ModuleType("cupy"))
    its.seed(42)
    assert os.environ["CUPY_SEED"] == "42"
