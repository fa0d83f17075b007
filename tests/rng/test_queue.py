"""Unstarted devices are not started, and their queued seeds are restored.

No GPU is needed: torch's queue is plain Python, and a fake replaces devices that start.
"""

from __future__ import annotations

import struct
from types import SimpleNamespace

import pytest
import torch
from torch.torch_version import TorchVersion

import ipytorchseed as its
from ipytorchseed.rng import torch_random
from ipytorchseed.rng.generators import find_generators
from ipytorchseed.rng.position import Position
from ipytorchseed.rng.table import locate, sources

pytestmark = pytest.mark.usefixtures("put_back")

KINDS = ["cuda", "xpu"]
every_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture
def gpu_build(monkeypatch):
    """Pretend that torch was built for CUDA.

    An attempt to start a device fails the test.
    """

    def start(*args, **kwargs):
        pytest.fail("a device was started")

    accelerator = torch.device("cuda")
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda *_: accelerator)
    for kind in KINDS:
        monkeypatch.setattr(getattr(torch, kind), "_lazy_init", start)


def _waiting(kind):
    return [call[0] for call in vars(getattr(torch, kind)._lazy_seed_tracker)["call_order"] if call]


@every_kind
def test_seeding_queues_the_seed_and_starts_no_device(gpu_build, kind):
    """This is what torch does. A later seed replaces an earlier one."""
    its.seed(41)
    (first,) = _waiting(kind)
    its.seed(42)
    (second,) = _waiting(kind)
    assert second is not first
    assert not getattr(torch, kind).is_initialized()


@every_kind
def test_looking_starts_no_device(gpu_build, kind):
    """The queue does not change either."""
    its.seed(42)
    before = _waiting(kind)
    snapshot = its.snapshot()
    for source in sources():
        locate(source, source.read())
    find_generators({"x": 1})
    its.restore(snapshot)
    assert _waiting(kind) == before
    assert not getattr(torch, kind).is_initialized()


def test_a_torch_built_for_the_cpu_queues_nothing(monkeypatch):
    """There is no device for the seed."""
    monkeypatch.setattr(torch, "__version__", TorchVersion("2.10.0"))
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda *_: None)
    before = [_waiting(kind) for kind in KINDS]
    its.seed(42)
    assert [_waiting(kind) for kind in KINDS] == before
    assert torch.initial_seed() == 42


def test_a_torch_that_asks_the_driver_for_its_accelerator_seeds_all(monkeypatch):
    """Torch 2.6 does this, and raises if there is none.

    So seeds are always queued.
    """
    monkeypatch.setattr(torch, "__version__", TorchVersion("2.6.0+cu124"))
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda *_: 1 / 0)
    assert torch_random.seeder() is torch.manual_seed


@every_kind
def test_restoring_puts_back_exactly_what_waited(gpu_build, kind):
    """The same calls are queued, in their order, after the user queued others."""
    devices = getattr(torch, kind)
    devices.manual_seed_all(1)
    devices.manual_seed(2)
    waiting = _waiting(kind)
    assert len(waiting) == 2
    snapshot = its.snapshot()
    its.seed(42)
    devices.manual_seed_all(3)
    assert _waiting(kind) != waiting
    its.restore(snapshot)
    assert _waiting(kind) == waiting
    its.seed(43)
    its.restore(snapshot)  # it can be used again
    assert _waiting(kind) == waiting


@every_kind
def test_restoring_an_empty_queue_empties_it(gpu_build, kind):
    """If the queue was empty, it is empty again."""
    vars(getattr(torch, kind)._lazy_seed_tracker).update(
        manual_seed_all_cb=None, manual_seed_cb=None, call_order=[]
    )
    snapshot = its.snapshot()
    its.seed(42)
    its.restore(snapshot)
    assert _waiting(kind) == []


# --------------------------------------------------------------------------------------------------
# Devices that start


class Devices:
    """Two devices of a kind, with the functions of torch's module for it."""

    def __init__(self):
        """Create devices that have not started, with an empty queue."""
        self.started = False
        self.default_generators = (torch.Generator(), torch.Generator())
        self._lazy_seed_tracker = SimpleNamespace(
            manual_seed_all_cb=None, manual_seed_cb=None, call_order=[]
        )

    def is_initialized(self):
        """Return whether they have started."""
        return self.started

    def queue(self, seed):
        """Queue a seed for all devices, as ``manual_seed_all`` does before they start."""

        def call():
            for generator in self.default_generators:
                generator.manual_seed(seed)

        self._lazy_seed_tracker.manual_seed_all_cb = (call, [])
        self._lazy_seed_tracker.call_order = [None, (call, [])]

    def start(self):
        """Start, as on first use: run the queue."""
        self.started = True
        for waiting in self._lazy_seed_tracker.call_order:
            if waiting:
                waiting[0]()

    def numbers(self):
        """Draw from every device."""
        return [torch.rand(2, generator=each).tolist() for each in self.default_generators]


@pytest.fixture(params=KINDS)
def devices(request, monkeypatch):
    """Return fake devices that replace ``torch.cuda`` or ``torch.xpu``."""
    made = Devices()
    monkeypatch.setattr(torch, request.param, made)
    made.kind = request.param
    return made


def test_a_device_is_a_source_once_it_has_started(devices):
    """Sources are named by device number, after the CPU."""
    before = [source.name for source in torch_random.sources()]
    devices.start()
    added = [f"torch.{devices.kind}:0", f"torch.{devices.kind}:1"]
    assert [source.name for source in torch_random.sources()] == [*before[:1], *added, *before[1:]]


def test_started_devices_are_kept_and_put_back(devices):
    """Each has its own state in the snapshot."""
    devices.start()
    devices.numbers()
    snapshot = its.snapshot()
    expected = devices.numbers()
    its.restore(snapshot)
    assert devices.numbers() == expected


def test_devices_that_started_since_begin_with_the_seed_that_waited(devices):
    """Restoring sets the state in which they would have started after the snapshot."""
    devices.queue(42)
    snapshot = its.snapshot()
    devices.start()
    expected = devices.numbers()
    devices.numbers()
    its.restore(snapshot)
    assert devices.numbers() == expected


def test_devices_that_started_since_unseeded_are_left_alone(devices):
    """Without a queued seed, torch takes one from the system. It cannot be restored."""
    snapshot = its.snapshot()
    devices.start()
    for generator in devices.default_generators:
        generator.manual_seed(7)
    its.restore(snapshot)
    assert {generator.initial_seed() for generator in devices.default_generators} == {7}


def test_what_waited_for_started_devices_is_nothing_to_keep(devices):
    """A snapshot of started devices has their states, not the used queue."""
    devices.queue(42)
    devices.start()
    snapshot = its.snapshot()
    assert devices.kind not in snapshot.queue.fields
    devices.queue(43)
    waiting = devices._lazy_seed_tracker.call_order
    its.restore(snapshot)
    assert devices._lazy_seed_tracker.call_order is waiting


def test_default_generators_of_started_devices_are_not_the_users(devices):
    """They are sources, and skipped in the namespace."""
    generator = devices.default_generators[1]
    assert [found.name for found in find_generators({"g": generator})] == ["g"]
    devices.start()
    assert find_generators({"g": generator}) == []


@pytest.mark.parametrize(("seed", "offset"), [(42, 0), (42, 1024), (2**63, 8)])
def test_a_state_of_a_device_says_seed_and_offset(seed, offset):
    """On CUDA and XPU the 16 bytes of a Philox state contain both."""
    assert torch_random.locate(struct.pack("<QQ", seed, offset), ()) == Position(seed, offset)


@pytest.mark.parametrize("size", [0, 15, 17, 5055, 5057])
def test_a_state_of_another_size_is_not_placed(size):
    """The layout of such a device is unknown."""
    assert torch_random.locate(bytes(size), ()) == Position()
