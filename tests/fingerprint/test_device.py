"""The digest that is computed where a tensor lies, here on the CPU."""

from __future__ import annotations

import pytest
import torch

from ipytorchseed.fingerprint import elements, fingerprint
from ipytorchseed.fingerprint.device import digest_on_device


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


def test_a_tensor_on_such_a_device_is_digested_there(monkeypatch):
    """Through the same way as any other, and seen to change."""
    monkeypatch.setattr(elements, "DEVICES", frozenset({"cpu"}))
    for value in (
        torch.arange(7.0), torch.arange(12.0).reshape(3, 4).t(), torch.ones(0),
        torch.ones(5, dtype=torch.bfloat16), torch.ones(5, dtype=torch.cfloat).conj(),
        torch.arange(9.0)[1:],
    ):  # fmt: skip
        before = fingerprint(value)
        assert before.exact
        assert before.digest == fingerprint(value.clone()).digest
        if value.numel():
            value[..., -1:] = 0
            assert fingerprint(value).digest != before.digest
