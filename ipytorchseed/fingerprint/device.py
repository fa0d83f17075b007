"""A digest computed where a tensor lies, without a copy to the host.

Integers wrap and their sum does not depend on the order of adding, so the result is the same on
every device and in every run. Each word is first mixed with its place: the digest depends on
order, and on length. The mixing is a bijection of a word, so that a change of one word always
changes the sum. The mixer is the finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable
pseudorandom number generators", OOPSLA 2014), twice with different constants.
"""

from __future__ import annotations

import struct
import sys
from typing import TYPE_CHECKING

from xxhash import xxh3_128_digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

WORDS = 2**20
"""Words of 8 bytes hashed at a time: the scratch memory is three times that."""

DEVICES = frozenset({"cuda", "xpu"})
"""Where it is used. Elsewhere 64-bit integers may be missing: bytes are copied piece by piece."""

_PLACE = 0x9E3779B97F4A7C15
_MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, None))
_MIX_AGAIN = ((33, 0xFF51AFD7ED558CCD), (29, 0xC4CEB9FE1A85EC53), (32, None))


def _signed(value: int) -> int:
    """Bring a number into the range of int64, as wrapping arithmetic would."""
    return (value + 2**63) % 2**64 - 2**63


def _mix(words: Tensor, scratch: Tensor, rounds: tuple[tuple[int, int | None], ...]) -> None:
    """Mix each word in place."""
    import torch

    for shift, factor in rounds:
        torch.bitwise_right_shift(words, shift, out=scratch)
        scratch.bitwise_and_(2 ** (64 - shift) - 1)  # the shift drags the sign along
        words.bitwise_xor_(scratch)
        if factor is not None:
            words.mul_(_signed(factor))


def digest_on_device(flat: Tensor, charge: Callable[[int], None], words: int = WORDS) -> bytes:
    """Digest a tensor on its device.

    Args:
        flat: One-dimensional, contiguous, of uint8, outside of autograd.
        charge: Told the number of bytes after each piece.
        words: How many words are hashed at a time; the digest does not depend on it.

    Returns:
        16 bytes.
    """
    torch = sys.modules["torch"]
    size = flat.numel()
    whole = size // 8
    most = min(words, whole)
    sums = torch.zeros(2, dtype=torch.int64, device=flat.device)
    places = torch.arange(most, dtype=torch.int64, device=flat.device).mul_(_signed(_PLACE))
    mixed, scratch = torch.empty_like(places), torch.empty_like(places)
    for start in range(0, whole, words):
        count = min(words, whole - start)
        piece = flat[8 * start : 8 * (start + count)]
        if piece.storage_offset() % 8 or piece.data_ptr() % 8:
            piece = piece.clone()
        here, rest = mixed[:count], scratch[:count]
        torch.add(places[:count], _signed(start * _PLACE), out=here)
        here.bitwise_xor_(piece.view(torch.int64))
        _mix(here, rest, _MIX)
        sums[0].add_(here.sum())
        _mix(here, rest, _MIX_AGAIN)
        sums[1].add_(here.sum())
        charge(8 * count)
    tail = bytes(flat[8 * whole :].tolist())
    return xxh3_128_digest(struct.pack("<Qqq", size, *sums.tolist()) + tail)
