"""Inserts runs and other records into the ledger, and selects them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from msgspec import Raw, Struct
from msgspec.structs import replace

from ipytorchseed.ledger import blobs, encoding
from ipytorchseed.ledger.blobs import compress, decompress
from ipytorchseed.ledger.encoding import key_of, key_of_name
from ipytorchseed.ledger.records import UNDONE, Run, Save

T = TypeVar("T")

# A number that is larger than the number of any run.
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
        """Return an SQL statement and its parameters. It selects columns of runs."""
        named = {name: getattr(self, name) for name in ("notebook", "cell", "kernel", "code")}
        wanted = {name: key_of_name(each) for name, each in named.items() if each is not None}
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
    names = map(key_of_name, (run.notebook, run.kernel, run.cell))
    code = key_of_name(run.code) if run.code else None
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
    stored: dict[int, tuple[list[int], Raw] | None] = {}
    for number, data in connection.execute(*query.sql("id, record")).fetchall():
        stored[number] = None
        with suppress(ValueError):  # `verify` reports it; the other runs are returned
            stored[number] = encoding.split_run(decompress(data))
    parts: dict[int, Any] = {}
    keys = {key for each in stored.values() if each is not None for key in each[0]}
    for key, content in blobs.load(connection, keys).items():
        with suppress(ValueError):
            parts[key] = encoding.decode(content, object)
    found: list[tuple[int, Run | None]] = []
    for number, each in stored.items():
        run = None
        with suppress(ValueError):
            run = None if each is None else encoding.decode_run(number, each[1], parts)
        found.append((number, run))
    return found


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


# --------------------------------------------------------------------------------------------------
# Other records


def insert_record(
    connection: sqlite3.Connection, table: str, record: object, /, **columns: float | None
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
    row = (*columns.values(), compress(encoding.encode(record)))
    query = f"INSERT OR REPLACE INTO {table} ({', '.join(names)}) VALUES ({blobs.marks(names)})"  # noqa: S608
    return int(connection.execute(query, row).lastrowid or 0)


def select_records(
    connection: sqlite3.Connection, table: str, kind: type[T], limit: int = -1, /, **columns: int
) -> list[T]:
    """Return the latest records with given column values, oldest first.

    Damaged records are left out.

    Args:
        connection: The connection.
        table: The name of the table.
        kind: The type of the records.
        limit: The maximum number of records; -1 for no limit.
        **columns: The values of the columns.
    """
    where = "".join(f"{name} = ? AND " for name in columns)
    query = f"SELECT record FROM {table} WHERE {where} 1 ORDER BY id DESC LIMIT ?"  # noqa: S608
    found = []
    for (data,) in connection.execute(query, [*columns.values(), limit]):
        with suppress(ValueError):  # `verify` reports it
            found.append(encoding.decode(decompress(data), kind))
    return found[::-1]


def put_save(
    connection: blobs.Connection, notebook: str, name: str, when: float, states: Mapping[str, bytes]
) -> None:
    """Save the states of sources under a name, replacing states saved before.

    Args:
        connection: A connection in a transaction.
        notebook: The identifier of the notebook.
        name: The name.
        when: The time, in seconds since 1970, UTC.
        states: The full state of each source, by the source's name.
    """
    save = Save(notebook, name, when, {each: key_of(state) for each, state in states.items()})
    where = {"notebook": key_of_name(notebook), "name": key_of_name(name)}
    number = insert_record(connection, "saves", save, **where)
    connection.execute("DELETE FROM saved WHERE save NOT IN (SELECT id FROM saves)")
    contents = {key_of(state): state for state in states.values()}
    blobs.put(connection, blobs.STATE, contents, 0, when)
    rows = [(key, number) for key in contents]
    connection.executemany("INSERT INTO saved (blob, save) VALUES (?, ?)", rows)


def find_save(connection: sqlite3.Connection, notebook: str, name: str) -> dict[str, bytes] | None:
    """Return the states saved under a name, by source; None if there is no such name."""
    where = {"notebook": key_of_name(notebook), "name": key_of_name(name)}
    for save in select_records(connection, "saves", Save, **where):
        found = blobs.load(connection, save.states.values())
        return {source: found[key] for source, key in save.states.items() if key in found}
    return None
