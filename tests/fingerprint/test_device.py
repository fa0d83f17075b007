"""The digest that is computed where a tensor lies, here on the CPU."""

from __future__ import annotations

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


class Stream:
    """Stands for what a device has still to compute, until it was asked for some times."""

    def __init__(self, times):
        self.times = times

    def query(self):
        """Tell whether it is done."""
        self.times -= 1
        return self.times < 0


@pytest.fixture
def device(monkeypatch):
    """The CPU, taken for a device that computes by itself; call it to keep that busy."""

    def give(times):
        stream = Stream(times)
        monkeypatch.setattr(torch.cpu, "current_stream", lambda _: stream)
        return stream

    monkeypatch.setattr(elements, "DEVICES", frozenset({"cpu"}))
    monkeypatch.setattr(elements, "ON_HOST", 0)
    give(0)
    return give


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
    """Else the first tensor would be taken for too large."""
    loaded = []

    def digest_and_load(*arguments):
        if not loaded:
            loaded.append(True)
            until = time.thread_time() + 0.1
            while time.thread_time() < until:
                pass
        return digest_on_device(*arguments)

    monkeypatch.setattr("ipytorchseed.fingerprint.device._warm", set())
    monkeypatch.setattr("ipytorchseed.fingerprint.device.digest_on_device", digest_and_load)
    budget = Budget(0.05)
    assert fingerprint(torch.ones(1000), budget=budget).exact
    assert loaded
    assert budget.used < 0.05


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
    stream, budget = device(3), Budget(60)
    assert fingerprint(torch.arange(7.0), budget=budget).exact
    assert stream.times < 0
    assert 0 < budget.waited < 60
    assert budget.used < budget.waited


def test_a_device_that_computes_for_long_is_not_waited_for(device):
    """It is said, and nothing is taken for the same; other values are looked at."""
    device(10**9)
    value, budget = torch.arange(7.0), Budget(0.01)
    found = [fingerprint(value, budget=budget) for _ in range(3)]
    assert all(each.kind == PENDING and not each.digest for each in found)
    assert budget.waited >= 0.01
    assert budget.used < 0.01
    assert fingerprint([1, 2], budget=budget).exact


def test_who_interrupts_waits_no_longer(device):
    """As when Ctrl-C lands in a look: its budget is taken away."""
    budget = Budget(float("inf"))
    stream = device(10**9)
    ask = stream.query

    def ask_and_interrupt():
        budget.stop()
        return ask()

    stream.query = ask_and_interrupt
    assert fingerprint(torch.arange(7.0), budget=budget).kind == PENDING
