"""Checks every page, blob, record and reference of the ledger."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterator, Sequence

from ipytorchseed.ledger.blobs import batches, decompress, marks
from ipytorchseed.ledger.encoding import decode, decode_run, key_of, split_run
from ipytorchseed.ledger.records import Findings, Save, SeedEntry, Trace

# The maximum number of problems to list.
_MOST = 50

_RECORDS: dict[str, type[object]] = {
    "traces": Trace,
    "findings": Findings,
    "seeds": SeedEntry,
    "saves": Save,
}


def verify(connection: sqlite3.Connection) -> list[str]:
    """Check every page, blob, record and reference.

    Args:
        connection: A connection in a transaction, so that nothing changes during the check.

    Returns:
        One line for each problem.
    """
    found: list[str] = []
    for check in (_pages, _blobs, _runs, _records, _references):
        try:
            found += itertools.islice(check(connection), _MOST + 1)
        except sqlite3.Error as error:
            found.append(f"unreadable: {error}")
        if len(found) > _MOST:
            return [*found[:_MOST], "... and more"]
    return found


def _pages(connection: sqlite3.Connection) -> Iterator[str]:
    for (said,) in connection.execute(f"PRAGMA integrity_check({_MOST})"):
        if said != "ok":
            yield f"pages: {said}"


def _blobs(connection: sqlite3.Connection) -> Iterator[str]:
    for number, key, data in connection.execute("SELECT id, key, data FROM blobs"):
        try:
            if key_of(decompress(data)) != key:
                yield f"blob {number}: its content is not what its digest says"
        except ValueError as error:
            yield f"blob {number}: {error}"


def _runs(connection: sqlite3.Connection) -> Iterator[str]:
    for number, data in connection.execute("SELECT id, record FROM runs"):
        try:
            parts, rest = split_run(decompress(data))
            decode_run(number, rest, {})
        except ValueError as error:
            yield f"run {number}: {error}"
            continue
        for each in _absent(connection, parts):
            yield f"run {number}: a part of it, blob {each + 2**63:016x}, is missing"


def _records(connection: sqlite3.Connection) -> Iterator[str]:
    for table, kind in _RECORDS.items():
        for number, data in connection.execute(f"SELECT id, record FROM {table}"):  # noqa: S608
            try:
                record: object = decode(decompress(data), kind)
            except ValueError as error:
                yield f"{table[:-1]} {number}: {error}"
                continue
            if isinstance(record, Save):
                for each in _absent(connection, [*record.states.values()]):
                    yield f"save {number}: a state of it, blob {each + 2**63:016x}, is missing"


def _references(connection: sqlite3.Connection) -> Iterator[str]:
    query = "SELECT id, run FROM traces WHERE run NOT IN (SELECT id FROM runs)"
    for number, run in connection.execute(query):
        yield f"trace {number}: its run {run} is missing"


def _absent(connection: sqlite3.Connection, keys: Sequence[int]) -> list[int]:
    missing = dict.fromkeys(keys)
    for some in batches(keys):
        query = f"SELECT key FROM blobs WHERE key IN ({marks(some)})"  # noqa: S608
        for (each,) in connection.execute(query, some):
            missing.pop(each, None)
    return [*missing]
