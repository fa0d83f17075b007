"""The table of blobs, a content-addressed store: states, texts, settings and large values."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ipytorchseed.ledger.compression import compress, decompress

PART, STATE = 0, 1
"""Kinds: a part goes with the last run that refers to it, a state some days after its last use."""

STRIDE = 256
"""A blob's ``last`` is brought up to date when it lags so many runs behind, not at each run.

So the last run that refers to a part has a number below ``last + STRIDE``.
"""

SLACK = 3600.0
"""Seconds by which the last use that is noted of a blob may lag behind."""

BATCH = 100
"""How many are asked for in one statement."""

_MOST = 4096
"""Blobs that a connection remembers."""


class Connection(sqlite3.Connection):
    """A connection with a cache of the blobs that are stored, so that most runs need no query.

    Attributes:
        known: By key, ``last`` and ``used`` of blobs that nobody has dropped since.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.known: dict[int, tuple[int, float]] = {}
        self._version = -1

    def changed(self) -> bool:
        """Tell, in a transaction, whether others may have written since this was asked last."""
        (version,) = self.execute("PRAGMA data_version").fetchone()
        if version == self._version:
            return False
        self.forget()
        self._version = version
        return True

    def forget(self) -> None:
        """Forget which blobs are there, as after a transaction that was rolled back."""
        self.known.clear()
        self._version = -1


def put(
    connection: Connection, kind: int, blobs: Mapping[int, bytes | None], run: int, when: float
) -> None:
    """Store blobs that are new, and note that all were used.

    Args:
        connection: In a transaction.
        kind: ``PART`` or ``STATE``.
        blobs: By key; None for one that is only referred to.
        run: The number of the run that refers to them.
        when: When that began, in seconds since 1970, UTC.
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
    """Return blobs by key; those that are not there, or damaged, are absent."""
    found = {}
    for some in batches([*dict.fromkeys(keys)]):
        query = f"SELECT key, data FROM blobs WHERE key IN ({marks(some)})"  # noqa: S608
        for key, data in connection.execute(query, some):
            try:
                found[key] = decompress(data)
            except ValueError:  # `verify` tells
                continue
    return found


def batches(many: Sequence[int]) -> Iterator[Sequence[int]]:
    """Split a sequence into batches that fit into one statement."""
    for at in range(0, len(many), BATCH):
        yield many[at : at + BATCH]


def marks(many: Sequence[object]) -> str:
    """Return as many ``?`` as there are values, for ``IN (...)``."""
    return ",".join("?" * len(many))
