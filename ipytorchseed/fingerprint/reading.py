"""Reads memory that may be unmapped through the operating system: that fails, and does not kill.

A page that was given back, or that lies beyond the end of a file which became shorter, raises a
signal in the process that touches it. The system, asked to copy from there, reports an error.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from array import array
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from ipytorchseed.fingerprint.buffers import address_of, memory, writable

PIECE = 2**17
"""Bytes copied at a time: they stay in the processor's cache until they are hashed."""

Way = Callable[[int, int, int], None]
"""Copies from an address to another, so many bytes."""


class UnreadableError(Exception):
    """Memory cannot be read; the message says why."""


def copy(source: int, target: int, size: int) -> None:
    """Copy memory that may be gone.

    Args:
        source: Where it is said to lie.
        target: Memory of ours.
        size: Bytes.

    Raises:
        UnreadableError: it is gone, at least in part; or this system cannot tell.
    """
    way = _way()
    if way is None:
        raise UnreadableError("memory that may be gone, and no safe way to read it on this system")
    way(source, target, size)


def pieces(source: int, size: int) -> Iterator[memoryview]:
    """Copy memory piece by piece; each is good until the next is asked for. Raises as ``copy``."""
    held = bytearray(min(size, PIECE))
    target = address_of(held)
    for start in range(0, size, PIECE):
        length = min(PIECE, size - start)
        copy(source + start, target, length)
        yield memoryview(held)[:length]


def blocks(sources: list[int], size: int) -> bytearray:
    """Copy blocks of memory, of ``size`` bytes each, one after the other. Raises as ``copy``."""
    held = bytearray(size * len(sources))
    target = address_of(held) if held else 0
    for index, source in enumerate(sources):
        copy(source, target + index * size, size)
    return held


def _gone() -> UnreadableError:
    return UnreadableError("its memory was given back")


@cache
def _way() -> Way | None:
    """Find out how this system can be asked, by asking it for what is known."""
    known, found = bytearray(b"known"), bytearray(5)
    for make in (_across_processes, _through_pipe):
        try:
            way = make()
            way(address_of(known), address_of(found), len(known))
        except (AttributeError, OSError, UnreadableError):
            continue
        if found == known:
            return way
    return None


def _across_processes() -> Way:
    """Use Linux's ``process_vm_readv``, on this very process; some containers forbid it."""
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS)
    function: Any = ctypes.CDLL(None, use_errno=True).process_vm_readv
    place, count = ctypes.c_void_p, ctypes.c_ulong
    function.argtypes = [ctypes.c_int, place, count, place, count, count]
    function.restype = ctypes.c_ssize_t

    def copy(source: int, target: int, size: int) -> None:
        done = 0
        while done < size:
            left = size - done
            spans = array("L", (target + done, left, source + done, left))  # two `struct iovec`
            at = spans.buffer_info()[0]
            copied = function(os.getpid(), at, 1, at + 2 * spans.itemsize, 1, 0)
            if copied <= 0:
                error = ctypes.get_errno()
                if error == errno.EFAULT:
                    raise _gone()
                raise OSError(error, os.strerror(error))
            done += copied

    return copy


def _through_pipe() -> Way:
    """Write it to a pipe and read it back, as any POSIX system lets one."""
    if os.name != "posix":
        raise OSError(errno.ENOSYS)

    def copy(source: int, target: int, size: int) -> None:
        out, into = os.pipe()  # none is kept: a forked child would share it
        try:
            os.set_blocking(into, False)
            done = 0
            while done < size:
                length = min(size - done, 2**16)  # what a pipe holds
                done += _pass(out, into, memory(source + done, length), target + done)
        finally:
            os.close(out)
            os.close(into)

    return copy


def _pass(out: int, into: int, view: memoryview, target: int) -> int:
    """Pass bytes through a pipe; return how many it took."""
    try:
        taken = os.write(into, view)
    except OSError as error:
        if error.errno == errno.EFAULT:
            raise _gone() from error
        raise
    done = 0
    while done < taken:
        done += os.readv(out, [writable(target + done, taken - done)])
    return taken
