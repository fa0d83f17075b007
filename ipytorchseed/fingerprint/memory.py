"""Memory: its owner, whether it can be read, and its bytes in full or by sample.

Memory that numpy or torch do not own may be unmapped, or past the end of a truncated file.
Reading such a page kills the process. So the pages of each piece are checked just before the
piece is read. Only another thread or process could unmap them in the meantime, which is less than
a millisecond.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from xxhash import xxh3_128_digest

from ipytorchseed.fingerprint.native import native

# Bytes read between two checks of the clock.
CHUNK = 8 * 2**20

# The number of blocks in a sample, and the bytes in each. One more block is at the very end.
SAMPLE = (16, 4096)

# The same for the sample that is checked in addition to a tensor's version counter.
PROOF = (32, 64)

_READ = 0x100  # PyBUF_READ, CPython's Include/pybuffer.h

_from_memory = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int)(
    ("PyMemoryView_FromMemory", ctypes.pythonapi)
)


def view(address: int, size: int) -> memoryview:
    """Return a view of ``size`` bytes at ``address``.

    The caller must keep the owner of the memory alive.
    """
    return _from_memory(address, size, _READ)  # type: ignore[no-any-return]


@cache
def of_machine() -> int:
    """Return the size of the machine's memory in bytes, or 64 GiB if unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 2**36


# --------------------------------------------------------------------------------------------------
# Owners


def owns_storage(storage: Any) -> bool:
    """Return whether torch certainly owns the memory of a CPU storage.

    torch only resizes memory that it allocated itself, so resizable memory is its own. But torch
    also refuses to resize its own memory if a numpy array uses it, or if ``torch.load`` created it.
    In these cases, return False.
    """
    at = native()
    return bool(at.resizable(storage)) and not at.is_shared(storage)


def owns_array(value: Any) -> bool:
    """Return whether numpy certainly owns the memory of an array.

    Return False for a view that reaches beyond its base, which happens if the base was resized.
    """
    array = sys.modules["numpy"].ndarray
    base_of, flags_of = array.base.__get__, array.flags.__get__
    root = value
    while not flags_of(root).owndata:
        root = base_of(root)
        if not issubclass(type(root), array):
            return False
    return root is value or is_inside(value, root)


def is_borrowed_image(fields: Mapping[str, Any]) -> bool:
    """Return whether the image with these attributes uses memory Pillow does not own."""
    return bool(fields.get("map") or fields.get("_readonly"))


_INSTALLED = ("/usr/", "/lib", "/etc/", "/dev/shm/sem.", sys.prefix, sys.base_prefix)  # noqa: S108

# Suffixes of libraries, and of files that SQLite maps for the ledger and does not truncate.
_SAFE = (".so", "-shm")


def maps_files() -> bool:
    """Return whether this process may have mapped files of the user.

    Files of programs and installed packages do not count. Return True if unknown.
    """
    try:
        lines = Path("/proc/self/maps").read_text("utf-8", "replace").splitlines()
    except OSError:
        return True
    paths = (line[line.index("/") :] for line in lines if "/" in line)
    return any(not (path.startswith(_INSTALLED) or path.endswith(_SAFE)) for path in paths)


# --------------------------------------------------------------------------------------------------
# Memory that we do not own


class UnreadableError(Exception):
    """Memory cannot be read; the message says why."""


# Pages checked at once. The check writes one byte per page to a pipe, which can buffer more.
_AT_ONCE = 1024

# Pages are checked per element if the elements are spread over more than this many times their
# own size.
_DENSE = 64


def require(array: Any, places: Any = None) -> None:
    """Check that the memory of an array's elements can be read now.

    Args:
        array: The array, which must not contain Python objects.
        places: Flat indices of the elements to check; by default, all elements.

    Raises:
        UnreadableError: The memory cannot be read, or the array contains objects, whose addresses
            may be invalid.
    """
    import numpy as np

    if array.dtype.hasobject:
        raise UnreadableError("its objects are in foreign memory")
    array, item = np.atleast_1d(np.asarray(array)), array.itemsize
    low, high = _span(array)
    if places is None and high - low <= _DENSE * array.nbytes:
        pages: Sequence[int] = range(low // mmap.PAGESIZE, (high - 1) // mmap.PAGESIZE + 1)
    else:
        indices = np.unravel_index(np.arange(array.size) if places is None else places, array.shape)
        begins = address_of_array(array) + sum(
            each * step for each, step in zip(indices, array.strides, strict=True)
        )
        within = [*range(0, item, mmap.PAGESIZE), item - 1]
        pages = np.unique(np.add.outer(begins, within) // mmap.PAGESIZE).tolist()
    if not hasattr(os, "writev"):
        raise UnreadableError("memory that may be gone, and no safe way to read it on this system")
    if not _are_there(pages):
        raise UnreadableError("its memory was released")


def _are_there(pages: Sequence[int]) -> bool:
    """Return whether pages of memory can be read.

    One byte of each page is written to a pipe. For an unmapped page, that system call fails
    instead of killing the process.
    """
    start = pages[0]
    there = view(start * mmap.PAGESIZE, (pages[-1] - start) * mmap.PAGESIZE + 1)
    out, into = os.pipe()  # not reused: a forked child would share it
    try:
        for begin in range(0, len(pages), _AT_ONCE):
            places = [(page - start) * mmap.PAGESIZE for page in pages[begin : begin + _AT_ONCE]]
            if os.writev(into, [there[at : at + 1] for at in places]) < len(places):
                return False
            os.read(out, len(places))
    except OSError:
        return False
    finally:
        os.close(out)
        os.close(into)
    return True


def is_inside(value: Any, root: Any) -> bool:
    """Return whether all elements of an array are in the memory of a contiguous one."""
    (begin, end), (low, high) = map(_span, (value, root))
    return low <= begin and end <= high


def _span(value: Any) -> tuple[int, int]:
    """Return the address of an array's first byte, and the one after its last byte."""
    value = sys.modules["numpy"].asarray(value)  # for a subclass: without its overrides
    low, high = 0, value.nbytes
    if not value.flags.c_contiguous:
        low, high = extent(value.shape, value.strides, value.itemsize)
    first = address_of_array(value)
    return first + low, first + high


def address_of_array(value: Any) -> int:
    """Return the address of an array's first element."""
    return int(value.__array_interface__["data"][0])


def extent(shape: tuple[int, ...], strides: tuple[int, ...], item: int) -> tuple[int, int]:
    """Return the byte offsets at which an array's memory starts and ends.

    Args:
        shape: The shape of the array.
        strides: The strides in bytes.
        item: The size of an element in bytes.

    Returns:
        The offsets relative to the address of the first element: a start of at most 0, and an end.
    """
    low, high = 0, item
    for length, step in zip(shape, strides, strict=True):
        reach = (length - 1) * step
        if reach < 0:
            low += reach
        else:
            high += reach
    return low, high


# --------------------------------------------------------------------------------------------------
# Reading


def starts(length: int, blocks: int, block: int) -> list[int]:
    """Return the start of each block of a sample, spaced evenly, with one at the end.

    Args:
        length: The number of elements.
        blocks: The number of blocks before the last.
        block: The number of elements in a block, at most ``length``.
    """
    step = (length - block) // blocks
    return [*range(0, step * blocks, step), length - block] if step else [0, length - block]


def split(array: Any, size: int) -> Iterator[Any]:
    """Split an array or tensor of ``size`` bytes into pieces of at most ``CHUNK``."""
    if size <= CHUNK or array.ndim == 0:
        yield array
        return
    row = size // array.shape[0]
    rows = max(1, CHUNK // row)
    for start in range(0, array.shape[0], rows):
        piece = array[start : start + rows]
        count = len(piece)
        yield from split(piece[0] if count == 1 and row > CHUNK else piece, row * count)


def pieces(array: Any, *, borrowed: bool) -> Iterator[memoryview]:
    """Yield the elements of an array as contiguous bytes, in pieces and index order.

    Args:
        array: An array with at least one element, without Python objects.
        borrowed: Whether the memory may be unmapped.

    Raises:
        UnreadableError: The memory is unmapped.
    """
    import numpy as np

    for piece in split(array, array.nbytes):
        if borrowed:
            require(piece)
        dense: Any = np.ascontiguousarray(piece).reshape(-1).view(np.uint8)
        yield memoryview(dense)


def sample(array: Any, blocks: int, block: int, *, borrowed: bool) -> bytes:
    """Digest a sample of the elements of an array; 16 bytes.

    Args:
        array: An array with at least one element, without Python objects.
        blocks: The number of blocks before the last.
        block: The size of a block in bytes.
        borrowed: Whether the memory may be unmapped.

    Raises:
        UnreadableError: The memory is unmapped.
    """
    import numpy as np

    each = min(max(1, block // array.itemsize), array.size)
    begins = starts(array.size, blocks, each)
    if borrowed:
        require(array, np.add.outer(begins, np.arange(each)).reshape(-1))
    flat = array.reshape(-1) if array.flags.c_contiguous else array.flat
    return xxh3_128_digest(b"".join([flat[start : start + each].tobytes() for start in begins]))
