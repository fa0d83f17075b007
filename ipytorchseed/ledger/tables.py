"""Inserts and selects records of a table by its columns."""

from __future__ import annotations

import sqlite3
from typing import TypeVar

from ipytorchseed.ledger.blobs import marks
from ipytorchseed.ledger.compression import compress
from ipytorchseed.ledger.encoding import encode, readable

T = TypeVar("T")

# SQLite's value for no limit.
_ALL = -1


def insert(
    connection: sqlite3.Connection, table: str, record: object, **columns: float | None
) -> int:
    """Store a record, and replace one with the same unique columns.

    Args:
        connection: In a transaction.
        table: The table.
        record: The record.
        **columns: The values of the other columns.

    Returns:
        The number of the row.
    """
    names = [*columns, "record"]
    row = (*columns.values(), compress(encode(record)))
    query = f"INSERT OR REPLACE INTO {table} ({', '.join(names)}) VALUES ({marks(names)})"  # noqa: S608
    return int(connection.execute(query, row).lastrowid or 0)


def select(
    connection: sqlite3.Connection,
    table: str,
    kind: type[T],
    limit: int | None = None,
    **columns: int,
) -> list[T]:
    """Return the last records with these values, oldest first, without damaged ones.

    Args:
        connection: The connection.
        table: The table.
        kind: The type of its records.
        limit: At most so many; None for all.
        **columns: The values.
    """
    where = "".join(f"{name} = ? AND " for name in columns)
    query = f"SELECT record FROM {table} WHERE {where} 1 ORDER BY id DESC LIMIT ?"  # noqa: S608
    rows = connection.execute(query, [*columns.values(), _ALL if limit is None else limit])
    return [*readable(rows, kind)][::-1]
