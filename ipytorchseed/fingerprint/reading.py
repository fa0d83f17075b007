"""Reads the elements of arrays, in full or by sample, in index order.

Memory that we do not own may be unmapped, or past the end of a file that became shorter. A
process that reads such a page is killed. So the operating system copies it first, which reports
an error instead.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from xxhash import xxh3_128_digest

from ipytorchseed.fingerprint import buffers
from ipytorchseed.fingerprint.owners import address_of_array, extent
from ipytorchseed.introspection.anatomy import full_name

if TYPE_CHECKING:
    from ipytorchseed.fingerprint.walk import Walk

# Bytes that a pipe can buffer.
_PIPE = 2**16

# Bytes copied at a time, so that they stay in the CPU's cache until hashed.
_AT_ONCE = 2**18

# The most bytes copied for each wanted byte, if more than ``_AT_ONCE`` are wanted.
_DENSE = 8

_HAS_PIPES = os.name == "posix"


class UnreadableError(Exception):
    """Memory cannot be read; the message says why."""


def copy(source: int, target: int, size: int) -> None:
    """Copy memory that may be unmapped: write it to a pipe, and read it back.

    Args:
        source: Its address.
        target: The address of our memory.
        size: Bytes.

    Raises:
        UnreadableError: A part is unmapped, or this system cannot find out.
    """
    if not _HAS_PIPES:
        raise UnreadableError("memory that may be gone, and no safe way to read it on this system")
    out, into = os.pipe()  # not reused: a forked child would share it
    try:
        os.set_blocking(into, False)
        done = end = 0
        while done < size:
            if done == end:
                end += os.write(into, buffers.memory(source + done, min(size - done, _PIPE)))
            done += os.readv(out, [buffers.writable(target + done, end - done)])
    except OSError as error:
        if error.errno == errno.EFAULT:
            raise UnreadableError("its memory was released") from error
        raise
    finally:
        os.close(out)
        os.close(into)


def free(_: int) -> None:
    """Charge nothing for reading."""


def copied(array: Any, charge: Callable[[int], None] = free) -> Any:
    """Return a copy of an array in foreign memory.

    Args:
        array: An array with at least one element.
        charge: Called with the bytes that could be read in the time of each copy.

    Raises:
        UnreadableError: As ``copy``.
    """
    import numpy as np

    low, high = extent(array.shape, array.strides, array.itemsize)
    if high - low <= max(_AT_ONCE, _DENSE * array.nbytes) or array.size == 1:
        held = np.empty(high - low, np.uint8)
        copy(address_of_array(array) + low, address_of_array(held), high - low)
        charge(_PIPE + high - low)
        return np.ndarray(array.shape, array.dtype, held, -low, array.strides)
    made = np.empty(array.shape, array.dtype)
    reach = [
        abs(step) * (length > 1) for length, step in zip(array.shape, array.strides, strict=True)
    ]
    axis = reach.index(max(reach))
    half = array.shape[axis] // 2
    for part in (slice(half), slice(half, None)):
        index = (*[slice(None)] * axis, part)
        made[index] = copied(array[index], charge)
    return made


def read(array: Any, walk: Walk, *, borrowed: bool) -> bytes:
    """Digest the elements of an array as ``walk`` allows; 16 bytes.

    Args:
        array: An array with at least one element, not of objects.
        walk: The walk.
        borrowed: Whether its memory may be unmapped.

    Raises:
        UnreadableError: As ``copy``.
    """
    if walk.may_read(array.nbytes):
        return read_whole(array, walk, borrowed=borrowed)
    return sample(array, *buffers.SAMPLE, borrowed=borrowed)


def read_whole(array: Any, walk: Walk, *, borrowed: bool) -> bytes:
    """Digest all elements; otherwise as ``read``."""
    return walk.read_pieces(pieces(array, walk.charge, borrowed=borrowed))


def pieces(
    array: Any, charge: Callable[[int], None] = free, *, borrowed: bool
) -> Iterator[memoryview]:
    """Yield the elements as dense bytes, piece by piece. Raises as ``copy``."""
    import numpy as np

    most = _AT_ONCE if borrowed and array.flags.c_contiguous else buffers.CHUNK
    for piece in buffers.split(array, array.nbytes, most):
        own = copied(piece, charge) if borrowed else piece
        dense: Any = np.ascontiguousarray(own).reshape(-1).view(np.uint8)
        yield memoryview(dense)


def sample(array: Any, blocks: int, block: int, *, borrowed: bool) -> bytes:
    """Digest a sample as ``buffers.sample`` does; 16 bytes. Raises as ``copy``."""
    each = min(max(1, block // array.itemsize), array.size)
    starts = buffers.starts(array.size, blocks, each)
    take = copied if borrowed else _same
    return xxh3_128_digest(b"".join([_take(array, start, each, take) for start in starts]))


def _same(array: Any) -> Any:
    return array


def _take(array: Any, start: int, count: int, copy: Callable[[Any], Any]) -> bytes:
    """Return ``count`` elements from ``start`` on, as bytes."""
    if array.ndim == 0:
        return bytes(copy(array).tobytes())
    if array.ndim == 1:
        return bytes(copy(array[start : start + count]).tobytes())
    row = array.size // array.shape[0]
    first, ahead = divmod(start, row)
    if ahead + count <= row:
        return _take(array[first], ahead, count, copy)
    if row < count:
        rows = copy(array[first : (start + count - 1) // row + 1])
        return bytes(rows.reshape(-1)[ahead : ahead + count].tobytes())
    here = row - ahead
    return _take(array[first], ahead, here, copy) + _take(array[first + 1], 0, count - here, copy)


def read_if_there(value: Any, walk: Walk, look: Callable[[], bytes]) -> tuple[bytes, str]:
    """Read elements in foreign memory, and return why they cannot be read, if so."""
    try:
        return look(), ""
    except UnreadableError as error:
        walk.mark_unseen(full_name(type(value)))
        return b"unreadable", f", {error}"
