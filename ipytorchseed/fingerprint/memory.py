"""Memory: its owner, whether it can be read, and its bytes in full or by sample.

Memory that numpy or torch do not own may be unmapped, or past the end of a file that became
shorter. A process that reads such a page is killed. So the pages are asked for just before each
piece is read; only another thread or process could take them away in the meantime, which is less
than a thousandth of a second.
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

# Blocks of a sample and bytes in each; one more block is at the very end.
SAMPLE = (16, 4096)

# The same for the sample that accompanies a version counter.
PROOF = (32, 64)

_READ = 0x100  # PyBUF_READ, CPython's Include/pybuffer.h

_from_memory = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int)(
    ("PyMemoryView_FromMemory", ctypes.pythonapi)
)


def view(address: int, size: int) -> memoryview:
    """Return a view of ``size`` bytes at ``address``.

    The caller keeps their owner alive.
    """
    return _from_memory(address, size, _READ)  # type: ignore[no-any-return]


@cache
def memory_of_machine() -> int:
    """Return the bytes of the machine's memory, or 64 GB if unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 2**36


# --------------------------------------------------------------------------------------------------
# Owners


def owns_storage(storage: Any) -> bool:
    """Return whether the memory of a CPU storage is known to be torch's own.

    torch resizes only what it allocated. It also refuses to resize memory that a numpy array
    uses, and the result of ``torch.load``, so memory that cannot be resized may be any.
    """
    at = native()
    return bool(at.resizable(storage)) and not at.is_shared(storage)


def owns_array(value: Any) -> bool:
    """Return whether the memory of an array is known to be numpy's own.

    It is not if a view reaches beyond its base, because the base became shorter.
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
    """Return whether Pillow does not own the memory of an image, by its attributes."""
    return bool(fields.get("map") or fields.get("_readonly"))


_INSTALLED = ("/usr/", "/lib", "/etc/", "/dev/shm/sem.", sys.prefix, sys.base_prefix)  # noqa: S108

# The ending of files that SQLite maps and does not shrink while in use: a ledger's.
_INDEX = "-shm"


def maps_files() -> bool:
    """Return whether this process may have mapped files of the user.

    Programs and installed packages do not count. True if unknown.
    """
    try:
        lines = Path("/proc/self/maps").read_text("utf-8", "replace").splitlines()
    except OSError:
        return True
    mapped = [each.split(maxsplit=5) for each in lines]
    paths = [each for each in mapped if len(each) == 6 and each[5][0] == "/"]  # noqa: PLR2004
    named = [(each[1], each[5].removesuffix(" (deleted)")) for each in paths]
    code = {path for allowed, path in named if "x" in allowed}
    data = {path for _, path in named if not path.endswith(_INDEX)} - code
    return any(not path.startswith(_INSTALLED) for path in data)


# --------------------------------------------------------------------------------------------------
# Memory of others


class UnreadableError(Exception):
    """Memory cannot be read; the message says why."""


# Pages that are asked about at once: a pipe can buffer more bytes.
_AT_ONCE = 1024

# Elements are asked about one by one if more than this many bytes lie around each of their bytes.
_DENSE = 64


def require(array: Any, places: Any = None) -> None:
    """Check that the memory of an array's elements can be read now.

    Args:
        array: Any array; objects in foreign memory are addresses that may lead anywhere.
        places: The indices of elements, in the order of iteration; by default all of them.

    Raises:
        UnreadableError: It cannot.
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

    The operating system writes a byte of each to a pipe, which fails instead of killing us.
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
    """Return whether all elements of an array are in the memory of another, dense one."""
    (begin, end), (low, high) = map(_span, (value, root))
    return low <= begin and end <= high


def _span(value: Any) -> tuple[int, int]:
    """Return the address of an array's first byte, and that after its last one."""
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
    """Return how many bytes elements reach before and after the first one's address."""
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


def pieces(array: Any, *, borrowed: bool) -> Iterator[memoryview]:
    """Yield the elements of an array as dense bytes, piece by piece, in index order.

    Args:
        array: An array with at least one element, not of objects.
        borrowed: Whether its memory may be unmapped.

    Raises:
        UnreadableError: It is unmapped.
    """
    import numpy as np

    for piece in split(array, array.nbytes):
        if borrowed:
            require(piece)
        dense: Any = np.ascontiguousarray(piece).reshape(-1).view(np.uint8)
        yield memoryview(dense)


def sample(array: Any, blocks: int, block: int, *, borrowed: bool) -> bytes:
    """Digest a sample as ``sample`` does; 16 bytes. Raises as ``read``."""
    import numpy as np

    each = min(max(1, block // array.itemsize), array.size)
    begins = starts(array.size, blocks, each)
    if borrowed:
        require(array, np.add.outer(begins, np.arange(each)).reshape(-1))
    flat = array.reshape(-1) if array.flags.c_contiguous else array.flat
    return xxh3_128_digest(b"".join([flat[start : start + each].tobytes() for start in begins]))
