"""How much of a value may still be visited and read."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from functools import cached_property
from typing import Any, TypeVar

from xxhash import xxh3_128

from ipytorchseed.fingerprint import memory
from ipytorchseed.fingerprint.budget import Budget, LateError, SpentError
from ipytorchseed.fingerprint.memo import Memo

T = TypeVar("T")

# Values visited once the budget is spent.
NODES = 2000

# Items of one container read once the budget is spent.
ITEMS = 256

# Bytes of one buffer read in full once the budget is spent.
SMALL = 2**18

# Bytes of all buffers of one value read in full once the budget is spent.
TOTAL = 2**23

# Items of a container copied and digested at once.
BATCH = 4096

_EVERY = 256  # values visited between two checks of the clock
_FASTEST = 2e-8  # seconds for an item of a container of numbers


class Mode(Enum):
    """How far a walk goes."""

    FULL = "everything, until the budget is spent"
    KNOWN = "everything, if what is small or known by memo is all there is"
    SAMPLE = "a sample, the same whenever it is taken"


class Meter:
    """Counts what is visited and read of one value, and reads in full or by sample.

    Args:
        memo: See below; the same for ``budget`` and ``mode``.
        began: When the look started, by ``time.thread_time``.

    Attributes:
        memo: The cache of earlier values.
        budget: The budget for reading again.
        mode: How far the look goes.
        exact: False if something was left out.
        large: Whether a look in ``Mode.KNOWN`` that knows nothing would have been refused.
    """

    def __init__(self, memo: Memo, budget: Budget, began: float, mode: Mode) -> None:
        self.memo = memo
        self.budget = budget
        self.mode = mode
        self.exact = True
        self.large = False
        self._deadline = budget.deadline(began, whole=mode is Mode.FULL)
        self._visited = 0
        self._check_at = _EVERY
        self._unchecked = 0
        self._read = 0

    @property
    def full(self) -> bool:
        """Whether a sample has no room for another value."""
        if self._visited < NODES or self.mode is not Mode.SAMPLE:
            return False
        self.exact = False
        return True

    def tick(self, count: int = 1) -> None:
        """Count values visited.

        Raises:
            SpentError: they were too many.
            LateError: They took too long.
        """
        self._visited += count
        if self._visited > NODES:
            self._enlarge()
        if self._visited >= self._check_at:
            self._check_at = self._visited + _EVERY
            self._clock()

    def _enlarge(self) -> None:
        self.large = True
        if self.mode is Mode.KNOWN:
            raise SpentError

    def _clock(self) -> None:
        if time.thread_time() > self._deadline or not self.budget.seconds:
            raise LateError

    def charge(self, size: int) -> None:
        """Count bytes read.

        Raises:
            LateError: They took too long.
        """
        self._unchecked += size
        if self._unchecked >= memory.CHUNK:
            self._unchecked = 0
            self._clock()

    def exempt(self, seconds: float) -> None:
        """Do not charge some of this thread's time, which was spent on a one-time task."""
        self._deadline += seconds
        self.budget.used -= seconds

    @cached_property
    def maps_files(self) -> bool:
        """As ``memory.maps_files``."""
        return memory.maps_files()

    def count(self, size: int) -> None:
        """Count the bytes of a buffer that is known to be unchanged."""
        self._read += size
        self.large |= size > SMALL or self._read > TOTAL

    def may_read(self, size: int) -> bool:
        """Return whether to read a buffer of ``size`` bytes in full, else by sample.

        Raises:
            SpentError: Neither is possible.
        """
        self._read += size
        if size <= SMALL and self._read <= TOTAL:
            return True
        self._enlarge()
        if self.mode is Mode.FULL:
            if size > memory.CHUNK:
                self._stop_if_too_large(size)
            return True
        self.exact = False
        return False

    def _stop_if_too_large(self, size: int) -> None:
        """Stop if ``size`` bytes cannot be read in time: other values may need that time."""
        if size > self.memo.speed * (self._deadline - time.thread_time()):
            self.memo.speed *= 1.05  # the measurement may be from a busy moment
            raise SpentError
        if size > memory.memory_of_machine():  # an expanded tensor, which repeats the same memory
            raise SpentError

    def may_hold(self, count: int) -> bool:
        """Return whether to visit ``count`` items, else some; raises as ``may_read``."""
        if count <= ITEMS:
            return True
        if count > NODES:
            self._enlarge()
        if self.mode is Mode.SAMPLE:
            self.exact = False
            return False
        if count > BATCH and count * _FASTEST > self._deadline - time.thread_time():
            raise SpentError
        return True

    def spans(self, count: int) -> Iterator[slice]:
        """Split ``count`` items into pieces: all, or the ends and some between.

        Raises:
            SpentError: as ``may_read``.
        """
        if self.may_hold(count):
            yield from (slice(start, start + BATCH) for start in range(0, count, BATCH))
        else:
            third = ITEMS // 3
            yield slice(0, third)
            yield slice(third, count - third, count // third)
            yield slice(count - third, count)

    # ----------------------------------------------------------------------------------------------
    # Reading

    def split(self, count: int, size: int) -> Iterator[slice]:
        """Split ``count`` items with ``size`` bytes into pieces: all of them, or a sample.

        Raises:
            SpentError: as ``may_read``.
        """
        item = max(1, size // max(1, count))
        if self.may_read(size):
            step = max(1, memory.CHUNK // item)
            starts = [*range(0, count, step)]
        else:
            blocks, block = memory.SAMPLE
            step = min(count, max(1, block // item))
            starts = memory.starts(count, blocks, step)
        for start in starts:
            yield slice(start, min(start + step, count))

    def read(self, view: memoryview) -> bytes:
        """Digest bytes in memory, in full or by sample; 16 bytes."""
        return self.read_pieces(view[each] for each in self.split(len(view), len(view)))

    def read_array(self, array: Any, *, borrowed: bool) -> bytes:
        """Digest the elements of an array, in full or by sample; see ``memory.pieces``."""
        if self.may_read(array.nbytes):
            return self.read_pieces(memory.pieces(array, borrowed=borrowed))
        return memory.sample(array, *memory.SAMPLE, borrowed=borrowed)

    def read_pieces(self, pieces: Iterable[memoryview | bytes]) -> bytes:
        """Digest pieces as if they were one; 16 bytes."""
        began, size, hasher = time.thread_time(), 0, xxh3_128()
        try:
            for piece in pieces:
                hasher.update(piece)
                size += len(piece)
                self.charge(len(piece))
        finally:
            if size > memory.CHUNK:
                self.memo.speed = size / (time.thread_time() - began)
        return hasher.digest()

    def pick(self, items: Sequence[T]) -> Sequence[T]:
        """Return the items to visit: all, or some from the start, the end and between."""
        return [item for span in self.spans(len(items)) for item in items[span]]
