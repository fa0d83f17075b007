"""Reads the elements of arrays, in full or by sample, in index order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from xxhash import xxh3_128_digest

from ipytorchseed.fingerprint import buffers
from ipytorchseed.fingerprint.owners import require

if TYPE_CHECKING:
    from ipytorchseed.fingerprint.walk import Walk


def read(array: Any, walk: Walk, *, borrowed: bool) -> bytes:
    """Digest the elements of an array as ``walk`` allows; 16 bytes.

    Args:
        array: An array with at least one element, not of objects.
        walk: The walk.
        borrowed: Whether its memory may be unmapped.

    Raises:
        UnreadableError: It is unmapped.
    """
    if walk.may_read(array.nbytes):
        return walk.read_pieces(pieces(array, borrowed=borrowed))
    return sample(array, *buffers.SAMPLE, borrowed=borrowed)


def pieces(array: Any, *, borrowed: bool) -> Iterator[memoryview]:
    """Yield the elements as dense bytes, piece by piece. Raises as ``read``."""
    import numpy as np

    for piece in buffers.split(array, array.nbytes):
        if borrowed:
            require(piece)
        dense: Any = np.ascontiguousarray(piece).reshape(-1).view(np.uint8)
        yield memoryview(dense)


def sample(array: Any, blocks: int, block: int, *, borrowed: bool) -> bytes:
    """Digest a sample as ``buffers.sample`` does; 16 bytes. Raises as ``read``."""
    import numpy as np

    each = min(max(1, block // array.itemsize), array.size)
    starts = buffers.starts(array.size, blocks, each)
    if borrowed:
        require(array, np.add.outer(starts, np.arange(each)).reshape(-1))
    flat = array.reshape(-1) if array.flags.c_contiguous else array.flat
    return xxh3_128_digest(b"".join([flat[start : start + each].tobytes() for start in starts]))
