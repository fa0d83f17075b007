"""The table of blobs: states, texts, settings and large values, once each, by their content."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ipytorchseed.ledger.compression import compress, decompress

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping, Sequence

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


def put(
    connection: sqlite3.Connection,
    kind: int,
    blobs: Mapping[int, bytes | None],
    run: int,
    when: float,
) -> None:
    """Keep blobs that are new, and note the use of all.

    Args:
        connection: In a transaction.
        kind: ``PART`` or ``STATE``.
        blobs: By key; None for one that is only referred to.
        run: The number of the run that refers to them.
        when: When that began, in seconds since 1970, UTC.
    """
    for key, content in blobs.items():
        query = "SELECT last, used FROM blobs WHERE key = ?"
        found = connection.execute(query, (key,)).fetchone()
        if found is None:
            if content is not None:
                row = (key, kind, run, when, compress(content))
                connection.execute(
                    "INSERT INTO blobs (key, kind, last, used, data) VALUES (?,?,?,?,?)", row
                )
        elif run - found[0] >= STRIDE or abs(when - found[1]) >= SLACK:
            query = "UPDATE blobs SET last = max(last, ?), used = ? WHERE key = ?"
            connection.execute(query, (run, when, key))


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
    """Iterate over parts of a sequence that one statement can ask for."""
    for at in range(0, len(many), BATCH):
        yield many[at : at + BATCH]


def marks(many: Sequence[object]) -> str:
    """Return as many ``?`` as there are values, for ``IN (...)``."""
    return ",".join("?" * len(many))
