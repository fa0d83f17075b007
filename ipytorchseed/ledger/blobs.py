"""The table of blobs, a content-addressed store.

It has states, texts, settings and large values.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ipytorchseed.ledger.compression import compress, decompress

# Kinds: a part is deleted with the last run that refers to it, a state some days after its last
# use.
PART, STATE = 0, 1

# A blob's ``last`` is updated when it lags so many runs behind, not at each run. So the last run
# that refers to a part has a number below ``last + STRIDE``.
STRIDE = 256

# Seconds by which the recorded last use of a blob may lag behind.
SLACK = 3600.0

# How many are selected in one statement.
BATCH = 100

# The most blobs that a connection remembers.
_MOST = 4096


class Connection(sqlite3.Connection):
    """A connection with a cache of stored blobs, so that most runs need no query.

    Attributes:
        known: By key, ``last`` and ``used`` of blobs that were not deleted since.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.known: dict[int, tuple[int, float]] = {}
        self._version = -1

    def changed(self) -> bool:
        """Return whether others may have written since the last call, in a transaction."""
        (version,) = self.execute("PRAGMA data_version").fetchone()
        if version == self._version:
            return False
        self.forget()
        self._version = version
        return True

    def forget(self) -> None:
        """Clear the cache, as after a transaction that was rolled back."""
        self.known.clear()
        self._version = -1


def put(
    connection: Connection, kind: int, blobs: Mapping[int, bytes | None], run: int, when: float
) -> None:
    """Store new blobs, and record the use of all of them.

    Args:
        connection: In a transaction.
        kind: ``PART`` or ``STATE``.
        blobs: By key; None for a reference without content.
        run: The number of the run that refers to them.
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
    """Return blobs by key, without those that are missing or damaged."""
    found = {}
    for some in batches([*dict.fromkeys(keys)]):
        query = f"SELECT key, data FROM blobs WHERE key IN ({marks(some)})"  # noqa: S608
        for key, data in connection.execute(query, some):
            try:
                found[key] = decompress(data)
            except ValueError:  # `verify` reports it
                continue
    return found


def batches(many: Sequence[int]) -> Iterator[Sequence[int]]:
    """Split a sequence into batches that fit into one statement."""
    for at in range(0, len(many), BATCH):
        yield many[at : at + BATCH]


def marks(many: Sequence[object]) -> str:
    """Return as many ``?`` as there are values, for ``IN (...)``."""
    return ",".join("?" * len(many))
