"""Limits on how much of a value is visited and read, and on the time for it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from functools import cached_property
from typing import Any, TypeVar

from msgspec import Struct
from xxhash import xxh3_128

from ipytorchseed.fingerprint import memory
from ipytorchseed.fingerprint.memo import Memo

T = TypeVar("T")

# Values up to these limits are read whole even if the budget is spent; larger ones are sampled.

# The number of objects inside a value.
NODES = 2000

# The number of items that a sample reads of one container.
ITEMS = 256

# The bytes of one buffer.
SMALL = 2**18

# The bytes of all buffers inside a value.
TOTAL = 2**23

# The number of items of a container that are copied and digested at once.
BATCH = 4096

_EVERY = 256  # values visited between two checks of the clock
_ITEM = 2e-8  # seconds for an item of a container of numbers, at least
_BYTE = 4e-11  # seconds for a byte of a large buffer, at least


# Bytes of unchanged tensors that one budget reads again, as a check of the memo.
REREAD = 16 * 2**20

# The share of the time for reading values whole. The rest is for samples.
_WHOLE = 0.8


class SpentError(Exception):
    """The walk must stop, because reading the rest would exceed the budget."""


class LateError(SpentError):
    """The time is used up, which does not mean that the value is large."""


class PendingError(Exception):
    """The value is not ready, because a GPU is still computing it."""


class Budget(Struct):
    """The time allowed for several fingerprints, and how much of it was used.

    Only time spent in ``fingerprint`` counts, so one budget can be used both before and after a
    cell runs. CPU time of this thread is counted, so a busy machine does not change the results.

    Attributes:
        seconds: The CPU time allowed, in seconds.
        used: The CPU time used so far, in seconds.
        reread: The remaining number of bytes that are read again even if ``Memo`` says that they
            are unchanged.
        waited: Seconds spent waiting for a GPU, at most ``seconds``. They do not count as used,
            because the user's next access to the GPU would have waited as long.
    """

    seconds: float = 0.2
    used: float = 0.0
    reread: int = REREAD
    waited: float = 0.0

    @property
    def left(self) -> float:
        """Seconds left for reading values whole; negative once they are used up."""
        return self.seconds * _WHOLE - self.used

    def stop(self) -> None:
        """Stop the current walk and all later ones."""
        self.seconds = 0.0

    def charge(self, since: float) -> None:
        """Add the time since ``since``, a value of ``time.thread_time``."""
        self.used += time.thread_time() - since


class Mode(Enum):
    """How much of a value a walk reads."""

    FULL = "everything, until the budget is spent"
    KNOWN = "everything, if the value is small, except for tensors in the memo"
    SAMPLE = "a fixed sample, which does not depend on the time left"


class Meter:
    """A counter of visited objects and read bytes, which enforces limits.

    Args:
        memo: See the attributes for ``memo``, ``budget`` and ``mode``.
        began: The ``time.thread_time`` at which the walk started.

    Attributes:
        memo: The cache of tensor digests.
        budget: The time budget.
        mode: How much of the value to read.
        exact: False if part of the value was not read.
        large: Whether the value exceeds the limits for small values. Tensors in the memo count
            as if they were read.
    """

    def __init__(self, memo: Memo, budget: Budget, began: float, mode: Mode) -> None:
        self.memo = memo
        self.budget = budget
        self.mode = mode
        self.exact = True
        self.large = False
        whole = budget.left if mode is Mode.FULL else budget.seconds - budget.used
        self._deadline = began + whole
        self._visited = 0
        self._check_at = _EVERY
        self._unchecked = 0
        self._read = 0

    @property
    def full(self) -> bool:
        """Whether this is a sample that has reached its maximum number of objects."""
        if self._visited < NODES or self.mode is not Mode.SAMPLE:
            return False
        self.exact = False
        return True

    def tick(self, count: int = 1) -> None:
        """Count visited objects.

        Raises:
            SpentError: The value is too large for this mode.
            LateError: The time is used up.
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
            LateError: The time is used up.
        """
        self._unchecked += size
        if self._unchecked >= memory.CHUNK:
            self._unchecked = 0
            self._clock()

    def exempt(self, seconds: float) -> None:
        """Exclude time that was spent on a one-time task from the budget."""
        self._deadline += seconds
        self.budget.used -= seconds

    maps_files = cached_property(lambda _: memory.maps_files())

    def count(self, size: int) -> None:
        """Count the bytes of a buffer that the memo knows, as if they were read."""
        self._read += size
        self.large |= size > SMALL or self._read > TOTAL

    def may_read(self, size: int) -> bool:
        """Return whether to read a buffer of ``size`` bytes in full, rather than a sample.

        Raises:
            SpentError: The mode does not allow a sample, and there is no time to read it in full.
        """
        self._read += size
        if size <= SMALL and self._read <= TOTAL:
            return True
        self._enlarge()
        if self.mode is Mode.FULL:
            left = self._deadline - time.thread_time()
            if size > memory.CHUNK and size * _BYTE > left:  # leave it for other values
                raise SpentError
            if size > memory.of_machine():  # an expanded tensor, which repeats the same memory
                raise SpentError
            return True
        self.exact = False
        return False

    def may_hold(self, count: int) -> bool:
        """Return whether to visit all of ``count`` items, rather than a sample.

        Raises:
            SpentError: The mode does not allow a sample, and there is no time to visit all.
        """
        if count <= ITEMS:
            return True
        if count > NODES:
            self._enlarge()
        if self.mode is Mode.SAMPLE:
            self.exact = False
            return False
        if count > BATCH and count * _ITEM > self._deadline - time.thread_time():
            raise SpentError
        return True

    def spans(self, count: int) -> Iterator[slice]:
        """Yield slices of ``count`` items: all of them, or a sample.

        A sample has the items at both ends, and some between.

        Raises:
            SpentError: See ``may_hold``.
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
        """Yield slices of ``count`` items that have ``size`` bytes: all, or a sample.

        Raises:
            SpentError: See ``may_read``.
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
        """Digest the concatenation of pieces; 16 bytes."""
        hasher = xxh3_128()
        for piece in pieces:
            hasher.update(piece)
            self.charge(len(piece))
        return hasher.digest()

    def pick(self, items: Sequence[T]) -> Sequence[T]:
        """Return the items to visit: all, or a sample as in ``spans``."""
        return [item for span in self.spans(len(items)) for item in items[span]]
