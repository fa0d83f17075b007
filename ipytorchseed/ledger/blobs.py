"""The table of blobs: compressed states, texts and large values, by hash."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

# Kinds of blobs. A part is deleted with the last run that refers to it, a state some days after its
# last use.
PART, STATE = 0, 1

# The column ``last`` is only updated when it is this many runs too low. So the last run that refers
# to a part has a number below ``last + STRIDE``.
STRIDE = 256

# The column ``used`` is only updated when it is this many seconds too low.
SLACK = 3600.0

# The maximum number of blobs to select in one statement.
BATCH = 100

# The maximum number of blobs in the cache of a connection.
_MOST = 4096

_PLAIN, _ZLIB, _SHUFFLED = b"\0", b"\1", b"\2"

# The maximum size after decompression, in bytes.
_LARGEST = 1 << 28

# Up to this many bytes, compression saves only a fifth, while zlib needs 256 KB of memory.
SMALL = 1024

# The bytes in a sample, and the number of different byte values above which the content counts as
# random, and is not compressed. 128 random bytes have about 101 different values.
_SAMPLE, _RANDOM = 128, 85

# The size of the words to shuffle, in bytes. torch stores each 32-bit word of its Mersenne Twister
# in 64 bits (the legacy state of ``at::CPUGeneratorImpl``). Shuffling puts the first bytes of all
# words first, then the second bytes, and so on. Then such a state compresses to half its size, and
# three states fit into a page of the file.
_WORD = 8


class Connection(sqlite3.Connection):
    """A connection with a cache of stored blobs, so that most runs need no query.

    Attributes:
        known: The columns ``last`` and ``used`` of existing blobs, by key.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.known: dict[int, tuple[int, float]] = {}
        self._version = -1

    def changed(self) -> bool:
        """Return whether another connection may have written since the last call.

        Call this in a transaction. If the result is true, the cache is cleared.
        """
        (version,) = self.execute("PRAGMA data_version").fetchone()
        if version == self._version:
            return False
        self.forget()
        self._version = version
        return True

    def forget(self) -> None:
        """Clear the cache."""
        self.known.clear()
        self._version = -1


def put(
    connection: Connection, kind: int, blobs: Mapping[int, bytes | None], run: int, when: float
) -> None:
    """Store the blobs that are new, and record that a run uses all of them.

    Args:
        connection: A connection in a transaction.
        kind: ``PART`` or ``STATE``.
        blobs: The content by key; None if only the use is recorded.
        run: The number of the run.
        when: The start of the run, in seconds since 1970, UTC.
    """
    known = connection.known
    if len(known) > _MOST:
        known.clear()
    for key, content in blobs.items():
        query = "SELECT last, used FROM blobs WHERE key = ?"
        found = known.get(key) or connection.execute(query, (key,)).fetchone()
        if found is None:
            if content is None:
                continue
            found = run, when
            query = "INSERT INTO blobs (key, kind, last, used, data) VALUES (?,?,?,?,?)"
            connection.execute(query, (key, kind, run, when, compress(content)))
        elif run - found[0] >= STRIDE or abs(when - found[1]) >= SLACK:
            found = max(found[0], run), when
            query = "UPDATE blobs SET last = ?, used = ? WHERE key = ?"
            connection.execute(query, (*found, key))
        known[key] = found


def load(connection: sqlite3.Connection, keys: Iterable[int]) -> dict[int, bytes]:
    """Return blobs by key; missing and damaged blobs are left out."""
    found = {}
    for some in batches([*dict.fromkeys(keys)]):
        query = f"SELECT key, data FROM blobs WHERE key IN ({marks(some)})"  # noqa: S608
        for key, data in connection.execute(query, some):
            with suppress(ValueError):  # `verify` reports it
                found[key] = decompress(data)
    return found


def batches(many: Sequence[int]) -> Iterator[Sequence[int]]:
    """Split a sequence into batches that fit into one statement."""
    for at in range(0, len(many), BATCH):
        yield many[at : at + BATCH]


def marks(many: Sequence[object]) -> str:
    """Return as many ``?`` as there are values, for ``IN (...)``."""
    return ",".join("?" * len(many))


def compress(content: bytes) -> bytes:
    """Compress bytes if that helps; ``decompress`` restores them."""
    if len(content) > SMALL and len({*content[-_SAMPLE:]}) <= _RANDOM:
        sparse = content[_WORD - 1 :: _WORD].count(0) * _WORD > len(content) * 0.9
        # the fastest level, because a cell waits
        words = (content[at::_WORD] for at in range(_WORD))
        small = zlib.compress(b"".join(words) if sparse else content, 1)
        if len(small) < len(content):
            return (_SHUFFLED if sparse else _ZLIB) + small
    return _PLAIN + content


def decompress(data: bytes) -> bytes:
    """Decompress the result of ``compress``.

    Raises:
        ValueError: The bytes are not a result of ``compress``.
    """
    if not isinstance(data, bytes):  # SQLite stores any type in any column
        raise ValueError("it holds no bytes")  # noqa: TRY004 -- the ledger is damaged
    kind, rest = data[:1], data[1:]
    if kind == _PLAIN:
        return rest
    if kind not in (_ZLIB, _SHUFFLED):
        raise ValueError(f"its bytes are of an unknown kind {kind!r}")
    try:
        inflate = zlib.decompressobj()
        content = inflate.decompress(rest, _LARGEST)
    except zlib.error as error:
        raise ValueError(f"its bytes cannot be decompressed: {error}") from error
    if not inflate.eof:
        raise ValueError("its bytes cannot be decompressed: they are cut off, or too many")
    return _unshuffle(content) if kind == _SHUFFLED else content


def _unshuffle(content: bytes) -> bytes:
    words, begin = bytearray(len(content)), 0
    for at in range(_WORD):
        end = begin + len(range(at, len(content), _WORD))
        words[at::_WORD] = content[begin:end]
        begin = end
    return bytes(words)
