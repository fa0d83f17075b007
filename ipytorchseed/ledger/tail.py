"""The tail of a ledger: runs that are kept, and not yet in its tables.

A transaction of SQLite touches a dozen places of memory and of the file; in a kernel that just woke
it takes three times as long as all that is looked at for a run. So a kernel appends each run to a
file of its own beside the ledger, which outlives a killed process as well, and puts it in the
tables a moment later; should it be killed before, whoever next reads the ledger does.

A tail begins with the number of its *generation*, 0 where it holds nothing. After it come records:
length, hash and bytes of each. When all are in the tables, the number becomes 0, and the next run
begins a new generation in the same place: what is left of the one before has other hashes. The
ledger knows how far it has read each generation, noted in the transaction that puts the records in
the tables; so each gets there once, whoever is killed when. A process holds a lock on its tail for
as long as it lives: one that nobody locks may be removed.
"""

from __future__ import annotations

import errno
import os
import struct
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct
from xxhash import xxh3_64_intdigest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

if sys.platform == "win32":

    def _lock(file: int) -> bool:  # noqa: ARG001
        return False
else:
    import fcntl

    def _lock(file: int) -> bool:
        """Lock a file for this process, and tell whether that was possible."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


_NAME = "-tail-"
_GENERATION = struct.Struct("<Q")
_HEAD = struct.Struct("<IQ")
_NOTHING = bytes(_GENERATION.size)
_LAST = 2**63
"""Above every generation: SQLite's integers have a sign."""

_TRIES = 8


class Tail:
    """The tail that this process writes.

    Args:
        path: The ledger.

    Attributes:
        waiting: How many records it holds that are not known to be in the tables.
    """

    def __init__(self, path: Path) -> None:
        self.waiting = 0
        self._ledger = path
        self._path = path
        self._file = -1
        self._end = 0
        self._generation = 0
        self._usable = True

    def append(self, record: bytes) -> None:
        """Keep a record. When this returns, it outlives the process, also one that is killed.

        Raises:
            OSError: It is not kept.
        """
        if self._file < 0:
            self._begin()
        head = b""
        if not self._end:
            self._generation += 1
            head = _GENERATION.pack(self._generation)
        code = xxh3_64_intdigest(record, self._generation)
        data = b"".join((head, _HEAD.pack(len(record), code), record))
        if os.pwrite(self._file, data, self._end) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._end += len(data)
        self.waiting += 1

    def read(self) -> Waiting | None:
        """Return all that it holds, also where its file was removed; None where that is nothing."""
        if not self._end:
            return None
        data = os.pread(self._file, self._end, 0)
        return Waiting(self._path, self._generation, data, dead=False)

    def empty(self, read: Waiting) -> None:
        """Drop all records, which are in the tables, unless some came since they were read."""
        if self._end != len(read.data):
            return
        self.waiting = 0
        with suppress(OSError):  # then this generation goes on: the tables know how far
            if os.fstat(self._file).st_nlink:
                os.pwrite(self._file, _NOTHING, 0)
                self._end = 0
            else:  # somebody removed it: the next one is another file
                self.leave()

    def close(self) -> None:
        """Give the file back; where it holds nothing, it goes."""
        if self._file >= 0:
            if not self._end:
                with suppress(OSError):
                    self._path.unlink()
            self.leave()

    def leave(self) -> None:
        """Let go of the file; in a forked child, it and its lock are still the parent's."""
        if self._file >= 0:
            with suppress(OSError):
                os.close(self._file)
        self._file, self._end, self.waiting = -1, 0, 0

    def _begin(self) -> None:
        """Make the file, with rights for the user alone, and lock it."""
        if not self._usable:  # a file system without locks: that does not change
            raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
        for _ in range(_TRIES):
            path = self._ledger.with_name(f"{self._ledger.name}{_NAME}{os.urandom(6).hex()}")
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            # Another process may take it for a dead one's, before we hold it, and remove it.
            if _lock(file) and os.fstat(file).st_nlink:
                self._path, self._file = path, file
                self._generation = int.from_bytes(os.urandom(7), "little")
                return
            os.close(file)
            with suppress(OSError):
                path.unlink()
        self._usable = False
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))


def possible() -> bool:
    """Tell whether this system locks files as a tail needs it."""
    return sys.platform != "win32"


class Waiting(Struct):
    """A tail as it was found, whoever's.

    Attributes:
        path: The file.
        generation: Of its records; 0 where there are none.
        data: All of it.
        dead: Whether no process writes it any more.
        unread: Whether it holds a whole record that nobody here can read.
    """

    path: Path
    generation: int
    data: bytes
    dead: bool
    unread: bool = False

    def records(self, done: int) -> Iterator[tuple[bytes, int]]:
        """Go through the records that are whole.

        Args:
            done: Bytes to pass over.

        Yields:
            A record, and the bytes up to its end.
        """
        at = max(done, _GENERATION.size)
        while at + _HEAD.size <= len(self.data):
            length, code = _HEAD.unpack_from(self.data, at)
            end = at + _HEAD.size + length
            record = self.data[at + _HEAD.size : end]
            if end > len(self.data) or xxh3_64_intdigest(record, self.generation) != code:
                return  # the last words of a killed process
            yield record, end
            at = end


def any_waiting(ledger: Path) -> bool:
    """Tell whether a tail beside the ledger holds records."""
    return any(each.generation for each in find(ledger, only=_GENERATION.size))


def find(ledger: Path, only: int = -1) -> Iterator[Waiting]:
    """Read the tails beside a ledger, or only their first bytes."""
    for path in _beside(ledger):
        with suppress(OSError), path.open("rb") as file:  # it may be gone, or somebody else's
            dead = only < 0 and _lock(file.fileno())
            data = file.read(only)
            generation = int.from_bytes(data[: _GENERATION.size], "little")
            yield Waiting(path, generation if generation < _LAST else 0, data, dead)


def remove(tail: Waiting) -> None:
    """Remove the tail of a dead process, whose records are in the tables.

    One with a record that nobody here can read is renamed.
    """
    with suppress(OSError), tail.path.open("rb") as file:
        # A process that begins has a file before it holds the lock: then this is not a dead one's.
        if _lock(file.fileno()) and os.fstat(file.fileno()).st_size == len(tail.data):
            if tail.unread:
                tail.path.rename(tail.path.with_name(tail.path.name.replace(_NAME, "-unread-")))
            else:
                tail.path.unlink()


def _beside(ledger: Path) -> list[Path]:
    start = f"{ledger.name}{_NAME}"
    with suppress(OSError), os.scandir(ledger.parent) as entries:
        names = sorted(entry.name for entry in entries if entry.name.startswith(start))
        return [ledger.with_name(name) for name in names]
    return []
