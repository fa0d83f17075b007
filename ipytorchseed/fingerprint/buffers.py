"""Bytes in memory: hashed in full, or at fixed places."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from functools import cache
from typing import Any

# Bytes read between two checks of the clock.
CHUNK = 8 * 2**20

# Blocks of a sample and bytes in each; one more block is at the very end.
SAMPLE = (16, 4096)

# The same for the sample that accompanies a version counter.
PROOF = (32, 64)

_READ = 0x100  # PyBUF_READ, CPython's Include/pybuffer.h

_view = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int)(
    ("PyMemoryView_FromMemory", ctypes.pythonapi)
)


def memory(address: int, size: int) -> memoryview:
    """Return a view of ``size`` bytes at ``address``.

    The caller keeps their owner alive.
    """
    return _view(address, size, _READ)  # type: ignore[no-any-return]


@cache
def memory_of_machine() -> int:
    """Return the bytes of the machine's memory, or 64 GB if unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 2**36


def starts(length: int, blocks: int, block: int) -> list[int]:
    """Place the blocks of a sample evenly, with one at the end.

    Args:
        length: The number of elements.
        blocks: The number of blocks before the last.
        block: Elements in each, at most ``length``.

    Returns:
        The start of each block, which depends only on these numbers.
    """
    step = (length - block) // blocks
    return [*range(0, step * blocks, step), length - block] if step else [0, length - block]


def split(array: Any, size: int) -> Iterator[Any]:
    """Split an array or tensor of ``size`` bytes into pieces that are at most a chunk."""
    if size <= CHUNK or array.ndim == 0:
        yield array
        return
    row = size // array.shape[0]
    rows = max(1, CHUNK // row)
    for start in range(0, array.shape[0], rows):
        piece = array[start : start + rows]
        count = len(piece)
        yield from split(piece[0] if count == 1 and row > CHUNK else piece, row * count)


def chunks(view: memoryview) -> Iterator[memoryview]:
    """Split a memoryview into chunks; the clock is checked between them."""
    for start in range(0, len(view), CHUNK):
        yield view[start : start + CHUNK]
