"""The table of runs: inserts runs and selects them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.ledger import blobs, encoding
from ipytorchseed.ledger.compression import compress, decompress
from ipytorchseed.ledger.records import UNDONE, Run

# A number above that of every run.
LATEST = 2**62


class Query(Struct, frozen=True):
    """A selection of runs and their order; all given conditions must hold.

    Attributes:
        notebook: Only of this one.
        cell: Only of this one.
        kernel: Only of this one.
        code: Only with this text, named as ``Run.code`` does.
        execution_count: Only with this number in ``In[...]``.
        after: Only with larger numbers.
        up_to: Only with numbers up to this one.
        newest_first: In which order.
        limit: At most so many.
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
        """Return the statement that selects these columns, and its values."""
        wanted = {
            name: encoding.key_of_name(each)
            for name in ("notebook", "cell", "kernel", "code")
            if (each := getattr(self, name)) is not None
        }
        if self.execution_count is not None:
            wanted["execution_count"] = self.execution_count
        # With an index that begins with the notebook, SQLite would have to sort; the table is in
        # order. A plus keeps SQLite from using an index.
        plus = "+" if [*wanted] == ["notebook"] else ""
        where = "".join(f"{plus}{column} = ? AND " for column in wanted)
        values: list[int | None] = [*wanted.values()]
        order = "DESC" if self.newest_first else "ASC"
        return (
            f"SELECT {columns} FROM runs WHERE {where} id > ? AND id <= ?"  # noqa: S608 -- ours
            f" ORDER BY id {order} LIMIT ?"
        ), [*values, self.after, self.up_to, self.limit]


def insert(connection: blobs.Connection, run: Run, states: Mapping[str, bytes]) -> int:
    """Insert a run and its blobs; return its number, which is larger than all before.

    Args:
        connection: In a transaction.
        run: The run.
        states: Full states by digest, if they may be new.
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
    """Set the status of runs to ``UNDONE``."""
    for number in numbers:
        for _, run in select(connection, by_number(number)):
            if run is not None:
                record, _ = encoding.encode_run(replace(run, status=UNDONE))
                row = (compress(record), number)
                connection.execute("UPDATE runs SET record = ? WHERE id = ?", row)


def select(connection: sqlite3.Connection, query: Query) -> list[tuple[int, Run | None]]:
    """Return the runs of a query with their numbers; None for a damaged record."""
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
    """Return the numbers of the runs of a query."""
    return [number for (number,) in connection.execute(*query.sql("id"))]


def notebooks(connection: sqlite3.Connection) -> list[str]:
    """Return the names of all notebooks, sorted."""
    query = "SELECT max(id) FROM runs GROUP BY notebook"
    newest = [number for (number,) in connection.execute(query)]
    runs = (run for each in newest for _, run in select(connection, by_number(each)))
    return sorted(run.notebook for run in runs if run is not None)


def by_number(number: int) -> Query:
    """Return the query for one run."""
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
