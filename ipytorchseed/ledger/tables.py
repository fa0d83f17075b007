"""Inserts records into a table, and selects them by columns."""

from __future__ import annotations

import sqlite3
from typing import TypeVar

from ipytorchseed.ledger.blobs import marks
from ipytorchseed.ledger.compression import compress
from ipytorchseed.ledger.encoding import encode, readable

T = TypeVar("T")

# The value of ``LIMIT`` that means no limit.
_ALL = -1


def insert(
    connection: sqlite3.Connection, table: str, record: object, **columns: float | None
) -> int:
    """Insert a record. It replaces a record with the same values in unique columns.

    Args:
        connection: A connection in a transaction.
        table: The name of the table.
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
    """Return the latest records with given column values, oldest first.

    Damaged records are left out.

    Args:
        connection: The connection.
        table: The name of the table.
        kind: The type of the records.
        limit: The maximum number of records; None for no limit.
        **columns: The values of the columns.
    """
    where = "".join(f"{name} = ? AND " for name in columns)
    query = f"SELECT record FROM {table} WHERE {where} 1 ORDER BY id DESC LIMIT ?"  # noqa: S608
    rows = connection.execute(query, [*columns.values(), _ALL if limit is None else limit])
    return [*readable(rows, kind)][::-1]
