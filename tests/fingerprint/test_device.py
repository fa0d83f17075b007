"""The digest that is computed where a tensor lies, here on the CPU."""

from __future__ import annotations

import threading
import time

import pytest
import torch

from ipytorchseed.fingerprint import Budget, elements, fingerprint
from ipytorchseed.fingerprint.device import digest_on_device, take
from ipytorchseed.fingerprint.value import PENDING
from tests.fingerprint.values import spent


def digest(tensor, words=2**20):
    """Digest a tensor as on a device."""
    return digest_on_device(tensor.view(torch.uint8).reshape(-1), lambda _: None, words)


def _random(size):
    return (
        torch.arange(size, dtype=torch.int64).mul(2654435761).bitwise_right_shift(7).to(torch.uint8)
    )


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 64, 1001, 4096])
def test_it_does_not_depend_on_the_size_of_a_piece(size):
    """Nor on where in memory the bytes lie."""
    value = _random(size)
    expected = digest(value)
    assert all(digest(value, words) == expected for words in (1, 3, 64))
    for shift in (1, 4, 8):
        moved = torch.cat([torch.zeros(shift, dtype=torch.uint8), value])[shift:]
        assert digest(moved, 16) == expected


@pytest.mark.parametrize("size", [1, 8, 9, 100])
def test_every_bit_counts(size):
    """Each one changes it, and no two changes agree."""
    value = _random(size)
    seen = {digest(value)}
    for place in range(size):
        for bit in range(8):
            value[place] ^= 1 << bit
            seen.add(digest(value))
            value[place] ^= 1 << bit
    assert len(seen) == 8 * size + 1


def test_order_length_and_pairs_count():
    """What an XOR or a sum would miss."""
    value = torch.arange(64)
    assert digest(value) != digest(value.flip(0).contiguous())
    swapped = value.clone()
    swapped[[3, 40]] = swapped[[40, 3]]
    assert digest(value) != digest(swapped)
    assert len({digest(torch.zeros(n, dtype=torch.uint8)) for n in range(40)}) == 40
    assert digest(torch.tensor([5, 5])) != digest(torch.tensor([6, 6]))
    assert digest(torch.tensor([1, -1])) != digest(torch.tensor([2, -2]))


def test_it_is_pinned():
    """A digest kept today is the digest of that content tomorrow, on any device."""
    assert digest(torch.arange(1000)).hex() == "5628fb8c79b0479a888ac6cbd08e6f53"


class Work:
    """A stub of what a device has still to compute.

    For some seconds, or until it is let go.
    """

    def __init__(self, seconds):
        self.seconds = seconds
        self.over = threading.Event()
        self.waiting = 0

    def wait(self, _device):
        """Return when it is done, as ``torch.cuda.synchronize`` does."""
        self.waiting += 1
        self.over.wait(self.seconds)
        self.waiting -= 1


@pytest.fixture
def device(monkeypatch):
    """The CPU, taken for a device that computes by itself; call it to keep that busy."""
    given = []

    def give(seconds):
        given.append(Work(seconds))
        monkeypatch.setattr(torch.cpu, "synchronize", given[-1].wait)
        return given[-1]

    monkeypatch.setattr("ipytorchseed.fingerprint.device._waiting", {})
    monkeypatch.setattr(elements, "DEVICES", frozenset({"cpu"}))
    monkeypatch.setattr(elements, "ON_HOST", 0)
    give(0)
    yield give
    for each in given:
        each.over.set()


LAYOUTS = {
    "plain": torch.arange(7.0),
    "transposed": torch.arange(12.0).reshape(3, 4).t(),
    "empty": torch.ones(0),
    "one number": torch.tensor(3.0),
    "of two bytes": torch.ones(5, dtype=torch.bfloat16),
    "conjugated": torch.ones(5, dtype=torch.cfloat).conj(),
    "moved": torch.arange(9.0)[1:],
    "every other": torch.arange(9.0)[::2],
    "one repeated": torch.ones(1).expand(11),
    "of bytes, with gaps": torch.arange(99, dtype=torch.uint8).reshape(9, 11)[::2, ::3],
    "channels last": torch.arange(120.0).reshape(2, 3, 4, 5).contiguous(memory_format=torch.channels_last),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("budget", [Budget, spent], ids=["whole", "sampled"])
def test_a_tensor_on_such_a_device_is_digested_there(name, budget, device):
    """Through the same way as any other, however its elements lie, and seen to change."""
    value = LAYOUTS[name]
    before = fingerprint(value, budget=budget())
    assert before.exact
    assert not before.opaque
    copy = value.clone(memory_format=torch.contiguous_format)
    assert before.digest == fingerprint(copy, budget=budget()).digest
    if value.numel():
        copy.view(-1)[-1] = 0
        assert fingerprint(copy, budget=budget()).digest != before.digest


def test_what_is_small_is_hashed_on_the_host(device, monkeypatch):
    """However it lies, and with no step of the hash on the device."""
    monkeypatch.setattr(elements, "ON_HOST", 2**20)
    monkeypatch.setattr(elements, "digest_on_device", None)
    for value in LAYOUTS.values():
        copy = value.clone(memory_format=torch.contiguous_format)
        assert fingerprint(value).exact
        assert fingerprint(value).digest == fingerprint(copy).digest


def test_what_a_device_loads_once_is_taken_from_no_budget(device, monkeypatch):
    """Otherwise the first tensor would be taken for too large."""
    loaded = []

    def digest_and_load(*arguments):
        if not loaded:
            loaded.append(True)
            until = time.thread_time() + 0.3
            while time.thread_time() < until:
                pass
        return digest_on_device(*arguments)

    monkeypatch.setattr("ipytorchseed.fingerprint.device._warm", set())
    monkeypatch.setattr("ipytorchseed.fingerprint.device.digest_on_device", digest_and_load)
    budget = Budget(0.2)
    began = time.thread_time()
    assert fingerprint(torch.ones(1000), budget=budget).exact
    assert loaded
    assert budget.used <= time.thread_time() - began - 0.3


def test_digests_and_samples_count_elements_in_their_order():
    """In pieces, of a tensor with gaps, as of its copy without."""
    value = torch.arange(3 * 5 * 7 * 4, dtype=torch.int32).reshape(3, 5, 7, 4).permute(3, 1, 0, 2)
    plain = value.contiguous()
    assert len({digest_on_device(each, lambda _: None, words)
                for each in (value, plain) for words in (1, 5, 2**20)}) == 1  # fmt: skip
    places = torch.tensor([0, 1, 17, 419])
    assert take(value, value.shape, places).equal(plain.flatten()[places])


def test_a_device_that_computes_is_waited_for(device):
    """What it gives is looked at, and the time is kept apart from that of looking."""
    device(0.05)
    budget = Budget(60)
    assert fingerprint([torch.arange(7.0), torch.arange(8.0)], budget=budget).exact
    assert 0.05 <= budget.waited < 60
    assert budget.used < budget.waited


def test_a_check_waits_without_end(device):
    """It has to compare what was computed."""
    device(0.05)
    assert fingerprint(torch.arange(7.0), budget=Budget(float("inf"))).exact


def test_a_device_that_computes_for_long_is_not_waited_for(device):
    """It is said, and nothing is taken for the same; other values are looked at."""
    work = device(60)
    value, budget = torch.arange(7.0), Budget(0.1)
    found = [fingerprint(value, budget=budget) for _ in range(3)]
    assert all(each.kind == PENDING and not each.digest for each in found)
    assert budget.waited >= 0.1
    assert budget.used < budget.waited
    assert work.waiting == 1
    assert fingerprint([1, 2], budget=budget).exact
    later = device(0)
    assert fingerprint(value, budget=Budget(0.01)).kind == PENDING
    work.over.set()
    assert fingerprint(value, budget=Budget(60)).exact
    assert later.waiting == 0


def test_who_interrupts_waits_no_longer(device):
    """As when Ctrl-C lands in a look: its budget is taken away."""
    budget = Budget(float("inf"))
    device(60)
    threading.Timer(0.05, budget.stop).start()
    assert fingerprint(torch.arange(7.0), budget=budget).kind == PENDING


def test_a_device_that_fails_is_not_looked_at(device, monkeypatch, capfd):
    """What reading raises is said; the wait raises nothing itself."""

    def broken(*_):
        raise RuntimeError("CUDA error")

    device(0)
    monkeypatch.setattr(torch.cpu, "synchronize", broken)
    monkeypatch.setattr(elements, "digest_on_device", broken)
    found = fingerprint(torch.arange(7.0))
    assert "not looked at: torch.Tensor (RuntimeError)" in found.summary
    assert capfd.readouterr() == ("", "")
