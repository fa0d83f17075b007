"""A digest that is computed on a tensor's device, without a copy to the host.

The digest is a sum of 64-bit integers. Integers wrap, and the order of adding does not matter, so
the sum is the same on every device and in every run. Each word is first mixed with its position,
so the digest depends on order and length. Mixing maps different words to different words, so a
change of one word always changes the sum.

The mixer is the finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom
number generators", OOPSLA 2014), applied twice with different constants.
"""

from __future__ import annotations

import contextlib
import struct
import sys
import threading
import time
from typing import TYPE_CHECKING

from xxhash import xxh3_128_digest

from ipytorchseed.fingerprint.meter import Budget, Meter, PendingError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import torch
    from torch import Tensor

# Words of 8 bytes hashed at a time. Hashing allocates three buffers of this size.
WORDS = 2**21

# Up to this many bytes, copying a tensor to the host and hashing it there is faster.
ON_HOST = 2**20

# Seconds between two checks of the budget.
_PAUSE = 0.0005

# Device types that hash their own tensors. Others may lack 64-bit integers, so their tensors are
# copied to the host in pieces.
DEVICES = frozenset({"cuda", "xpu"})

# Device types whose hash kernels are loaded.
_warm: set[str] = set()

# The latest thread that waits for each device. torch can wait for all streams of a device, but it
# cannot query whether they are done.
_waiting: dict[torch.device, threading.Thread] = {}

_PLACE = 0x9E3779B97F4A7C15
_MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, None))
_MIX_AGAIN = ((33, 0xFF51AFD7ED558CCD), (29, 0xC4CEB9FE1A85EC53), (32, None))


def _signed(value: int) -> int:
    """Wrap a number into the range of int64."""
    return (value + 2**63) % 2**64 - 2**63


def _mix(words: Tensor, scratch: Tensor, rounds: tuple[tuple[int, int | None], ...]) -> None:
    """Mix each word in place."""
    import torch

    for shift, factor in rounds:
        torch.bitwise_right_shift(words, shift, out=scratch)
        scratch.bitwise_and_(2 ** (64 - shift) - 1)  # the shift copies the sign
        words.bitwise_xor_(scratch)
        if factor is not None:
            words.mul_(_signed(factor))


def is_captured(device: str) -> bool:
    """Return whether a CUDA graph is being recorded, which must not be disturbed."""
    return device == "cuda" and bool(sys.modules["torch"].cuda.is_current_stream_capturing())


def settle(device: torch.device, budget: Budget) -> None:
    """Wait until a device has finished all its work, or until the budget is used up.

    Reading a tensor without this would wait for the current stream without a time limit, in a
    call that Ctrl-C cannot interrupt. It would also not wait for other streams, which may still
    write to the tensor.

    Args:
        device: A device of a type in ``DEVICES``.
        budget: The budget whose ``waited`` is increased.

    Raises:
        PendingError: The device is still busy.
        RuntimeError: A CUDA graph is being recorded.
    """
    if is_captured(device.type):
        raise RuntimeError("a CUDA graph is being recorded")
    began = time.monotonic()

    def wait() -> None:
        with contextlib.suppress(Exception):  # reading fails for the same reason
            getattr(sys.modules["torch"], device.type).synchronize(device)

    def join(waiting: threading.Thread) -> None:
        while waiting.is_alive():
            if budget.waited + time.monotonic() - began >= budget.seconds:
                raise PendingError
            waiting.join(_PAUSE)

    try:
        if device in _waiting:  # it may have started before the latest work was queued
            join(_waiting[device])
        _waiting[device] = threading.Thread(target=wait, name=f"look at {device}", daemon=True)
        _waiting[device].start()
        join(_waiting[device])
    finally:
        budget.waited += time.monotonic() - began


def warm(device: torch.device, meter: Meter) -> None:
    """Load the hash kernels of a device if they are not loaded.

    Loading takes 0.1 s, which is not charged to the budget.

    Args:
        device: A device of a type in ``DEVICES``.
        meter: The meter of the current walk.
    """
    if device.type in _warm:
        return
    _warm.add(device.type)
    began = time.thread_time()
    torch = sys.modules["torch"]
    with_gaps = torch.zeros(4, dtype=torch.int64, device=device)[::2]
    digest_on_device(with_gaps, lambda _: None)
    meter.exempt(time.thread_time() - began)


def digest_on_device(tensor: Tensor, charge: Callable[[int], None], words: int = WORDS) -> bytes:
    """Digest a tensor on its device.

    Args:
        tensor: A tensor of integers with any shape and strides, outside of autograd.
        charge: Called after each piece, with the number of bytes read.
        words: The number of words hashed at a time, which does not affect the digest.

    Returns:
        A digest of 16 bytes.
    """
    torch = sys.modules["torch"]
    size = tensor.numel() * tensor.element_size()
    whole = size // 8
    most = min(words, whole)
    sums = torch.zeros(2, dtype=torch.int64, device=tensor.device)
    places = torch.arange(most, dtype=torch.int64, device=tensor.device).mul_(_signed(_PLACE))
    mixed, scratch = torch.empty_like(places), torch.empty_like(places)
    for start in range(0, whole, words):
        count = min(words, whole - start)
        piece = _bytes(tensor, 8 * start, 8 * (start + count))
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
    tail = bytes(_bytes(tensor, 8 * whole, size).tolist()) if size % 8 else b""
    return xxh3_128_digest(struct.pack("<Qqq", size, *sums.tolist()) + tail)


def _bytes(tensor: Tensor, start: int, end: int) -> Tensor:
    """Return bytes of a tensor in index order; a copy if the tensor is not contiguous."""
    torch = sys.modules["torch"]
    if tensor.is_contiguous():
        return tensor.view(-1).view(torch.uint8)[start:end]
    item = tensor.element_size()
    places = torch.arange(start // item, end // item, device=tensor.device)
    return take(tensor, tensor.shape, places).view(torch.uint8)


def take(tensor: Tensor, shape: Sequence[int], places: Tensor) -> Tensor:
    """Return a copy of the elements at flat indices.

    Args:
        tensor: A tensor with any strides.
        shape: The dimensions to index: all of the tensor's, or only the leading ones.
        places: Flat indices into ``shape``, on the tensor's device or the CPU.
    """
    index: list[Tensor] = []
    for length in shape[::-1]:  # torch.unravel_index would import sympy, which takes 0.3 s
        index.insert(0, (places % length).to(tensor.device))
        places = places // length
    return tensor[tuple(index)]
