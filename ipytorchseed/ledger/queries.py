"""Inserts runs into the ledger, and selects them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.ledger import blobs, encoding
from ipytorchseed.ledger.compression import compress, decompress
from ipytorchseed.ledger.records import UNDONE, Run

# A number that is larger than that of every run.
LATEST = 2**62


class Query(Struct, frozen=True):
    """A selection of runs, and their order. Runs must satisfy all conditions.

    Attributes:
        notebook: Only runs of this notebook.
        cell: Only runs of this cell.
        kernel: Only runs of this kernel.
        code: Only runs with this ``Run.code``.
        execution_count: Only runs with this number in ``In[...]``.
        after: Only runs with a larger number in the ledger.
        up_to: Only runs with at most this number in the ledger.
        newest_first: Whether the newest run comes first, rather than the oldest.
        limit: The maximum number of runs.
    """

    notebook: str | None = None
    cell: str | None = None
    kernel: str | None = None
    code: str | None = None
    execution_count: int | None = None
    after: int = 0
    up_to: int = LATEST
    newest_first: bool = True
    limit: int = LATEST

    def sql(self, columns: str) -> tuple[str, list[int | None]]:
        """Return an SQL statement that selects columns of the runs, and its parameters."""
        wanted = {
            name: encoding.key_of_name(each)
            for name in ("notebook", "cell", "kernel", "code")
            if (each := getattr(self, name)) is not None
        }
        if self.execution_count is not None:
            wanted["execution_count"] = self.execution_count
        # For a condition on the notebook only, SQLite would use an index and then sort. The plus
        # keeps it from using the index: the table itself is already in order.
        plus = "+" if [*wanted] == ["notebook"] else ""
        where = "".join(f"{plus}{column} = ? AND " for column in wanted)
        values: list[int | None] = [*wanted.values()]
        order = "DESC" if self.newest_first else "ASC"
        return (
            f"SELECT {columns} FROM runs WHERE {where} id > ? AND id <= ?"  # noqa: S608 -- ours
            f" ORDER BY id {order} LIMIT ?"
        ), [*values, self.after, self.up_to, self.limit]


def insert(connection: blobs.Connection, run: Run, states: Mapping[str, bytes]) -> int:
    """Insert a run and its blobs; return its number, which is the largest so far.

    Args:
        connection: A connection in a transaction.
        run: The run.
        states: The full states that may be new, by digest.
    """
    record, parts = encoding.encode_run(run)
    names = map(encoding.key_of_name, (run.notebook, run.kernel, run.cell))
    code = encoding.key_of_name(run.code) if run.code else None
    row = (*names, run.execution_count, run.started, code, compress(record))
    query = (
        "INSERT INTO runs (notebook, kernel, cell, execution_count, started, code, record)"
        " VALUES (?,?,?,?,?,?,?)"
    )
    number = int(connection.execute(query, row).lastrowid or 0)
    blobs.put(connection, blobs.PART, parts, number, run.started)
    digests = {*states, *run.before.values(), *run.after.values()}
    keys = {
        key: states.get(each)
        for each in digests
        if (key := encoding.key_of_digest(each)) is not None
    }
    blobs.put(connection, blobs.STATE, keys, number, run.started)
    return number


def mark_undone(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Set the status of runs to ``UNDONE``, by their numbers."""
    for number in numbers:
        for _, run in select(connection, by_number(number)):
            if run is not None:
                record, _ = encoding.encode_run(replace(run, status=UNDONE))
                row = (compress(record), number)
                connection.execute("UPDATE runs SET record = ? WHERE id = ?", row)


def select(connection: sqlite3.Connection, query: Query) -> list[tuple[int, Run | None]]:
    """Return the numbers and runs that a query selects, with None for damaged runs."""
    rows = []
    for number, data in connection.execute(*query.sql("id, record")).fetchall():
        try:
            record = decompress(data)
            rows.append((number, record, encoding.parts_of_run(record)))
        except ValueError:  # `verify` reports it; the other runs are returned
            rows.append((number, b"", []))
    parts = _load(connection, {key for *_, keys in rows for key in keys})
    return [(number, _run(number, record, parts)) for number, record, _ in rows]


def ids(connection: sqlite3.Connection, query: Query) -> list[int]:
    """Return the numbers of the runs that a query selects."""
    return [number for (number,) in connection.execute(*query.sql("id"))]


def notebooks(connection: sqlite3.Connection) -> list[str]:
    """Return the names of all notebooks, sorted."""
    query = "SELECT max(id) FROM runs GROUP BY notebook"
    newest = [number for (number,) in connection.execute(query)]
    runs = (run for each in newest for _, run in select(connection, by_number(each)))
    return sorted(run.notebook for run in runs if run is not None)


def by_number(number: int) -> Query:
    """Return a query that selects one run."""
    return Query(after=number - 1, up_to=number)


def _load(connection: sqlite3.Connection, keys: set[int]) -> dict[int, Any]:
    found = {}
    for key, content in blobs.load(connection, keys).items():
        try:
            found[key] = encoding.decode(content, object)
        except ValueError:
            continue
    return found


def _run(number: int, record: bytes, parts: Mapping[int, Any]) -> Run | None:
    try:
        return encoding.decode_run(number, record, parts)
    except ValueError:
        return None
