"""Prunes the ledger, and checks every page, blob, record and reference of it.

Pruning consists of short transactions, so it can run between two cells and stop at any time. Full
states of sources are deleted first. They take up nine tenths of the space, and are only needed to
restore a state (``%seed rewind``): to explain a change, their digests are enough.
"""

from __future__ import annotations

import itertools
import sqlite3
import time
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from ipytorchseed.ledger.blobs import SLACK, STRIDE, Connection, batches, decompress, marks
from ipytorchseed.ledger.database import Database
from ipytorchseed.ledger.encoding import decode, decode_run, key_of, split_run
from ipytorchseed.ledger.records import Findings, Save, SeedEntry, Trace

_DAY = 86_400.0

# The number of rows that one step deletes, in about two milliseconds.
_CHUNK = 128

# The number of pages that one step returns to the file system.
_PAGES = 64

# The share of the allowed size that content may use. The rest is for SQLite's log.
_FULL = 0.95


# Selects the total size of all used pages, in bytes.
USED = """SELECT (page_count - freelist_count) * page_size
    FROM pragma_page_count, pragma_freelist_count, pragma_page_size"""

# Select rows that are too old, or in the future because of a wrong clock: states that are not saved
# under a name, and rows at the start of a table.
_STATES = """SELECT id FROM blobs WHERE kind = 1 AND (used < ? OR used > ?)
    AND NOT EXISTS (SELECT 1 FROM saved WHERE blob = key) LIMIT ?"""
_OLD = """SELECT id FROM (SELECT id, {} AS at FROM {} ORDER BY id LIMIT {})
    WHERE at NOT BETWEEN ? AND ? LIMIT ?"""

_SPARE = "SELECT freelist_count, page_count FROM pragma_freelist_count, pragma_page_count"


class Limits(Struct, frozen=True):
    """The age and size at which content is deleted.

    States that the user saved under a name are never deleted. With the defaults, a year of daily
    work (150 runs a day that each advance three sources) takes about 100 MB.

    Attributes:
        states_days: States are deleted this many days after their last use.
        runs_days: Runs and entries of the log of seeds are deleted after this many days.
        megabytes: The maximum size of the ledger, in 10**6 bytes.
        states_days_full: If the ledger is larger, states are deleted this many days after their
            last use, and then the oldest runs.
    """

    states_days: float = 60
    runs_days: float = 400
    megabytes: float = 200
    states_days_full: float = 14


DEFAULTS = Limits()


class Removed(Struct):
    """The numbers of deleted rows.

    Attributes:
        runs: The number of runs.
        states: The number of full states.
        values: The number of values, texts and settings to which no run refers.
        seeds: The number of entries in the log of seeds.
        finished: False if there was no time to delete everything.
    """

    runs: int = 0
    states: int = 0
    values: int = 0
    seeds: int = 0
    finished: bool = True

    def __bool__(self) -> bool:
        return bool(self.runs or self.states or self.values or self.seeds)


def prune(database: Database, limits: Limits, now: float, seconds: float | None = None) -> Removed:
    """Delete the content that exceeds the limits, and shrink the file.

    Args:
        database: The database of the ledger.
        limits: The limits.
        now: The current time, in seconds since 1970, UTC.
        seconds: The time after which no further step starts; None for no limit. At least one step
            runs, which takes a few milliseconds.

    Returns:
        The numbers of deleted rows.

    Raises:
        LedgerError: A step failed. The steps before it were completed.
    """
    deadline = float("inf") if seconds is None else time.perf_counter() + seconds
    removed = Removed()
    for _ in _steps(database, limits, now, removed, thorough=seconds is None):
        if time.perf_counter() >= deadline:
            removed.finished = False
            break
    return removed


def _steps(
    database: Database, limits: Limits, now: float, removed: Removed, *, thorough: bool
) -> Iterator[None]:
    """Prune, and yield after each step."""
    while database.write(_drop, limits, now, removed):
        yield
    last = float("inf")
    while True:
        free, pages = database.read(lambda connection: connection.execute(_SPARE).fetchone())
        # A few free pages are kept for later runs.
        many = free > 0 if thorough else free > 4 * _PAGES and 5 * free > pages
        if not many or free >= last:  # no fewer: this file cannot shrink
            return
        last = free
        database.pragma(f"incremental_vacuum({_PAGES})")
        yield


def _queries(connection: sqlite3.Connection, limits: Limits, now: float) -> Iterator[Any]:
    """Yield fields in ``Removed``, each with a query for rows to delete."""
    rows = connection.execute("SELECT id, started FROM runs ORDER BY id LIMIT 1").fetchall()
    first_run, first_started = rows[0] if rows else (2**62, float("inf"))
    late = now + _DAY
    yield "states", _STATES, max(now - limits.states_days * _DAY, first_started - SLACK), late
    for table, column in (("runs", "started"), ("seeds", "applied")):
        yield table, _OLD.format(column, table, _CHUNK), now - limits.runs_days * _DAY, late
    yield "values", "SELECT id FROM blobs WHERE kind = 0 AND last <= ? LIMIT ?", first_run - STRIDE
    if connection.execute(USED).fetchone()[0] > limits.megabytes * 1e6 * _FULL:
        yield "states", _STATES, max(now - limits.states_days_full * _DAY, first_started), late
        yield "runs", "SELECT id FROM runs ORDER BY id LIMIT ?"


def _drop(connection: Connection, limits: Limits, now: float, removed: Removed) -> bool:
    """Delete and count some rows; return whether any exceeded the limits."""
    for what, query, *values in _queries(connection, limits, now):
        rows = [row for (row,) in connection.execute(query, (*values, _CHUNK))]
        if rows:
            table = "blobs" if what in ("states", "values") else what
            connection.execute(f"DELETE FROM {table} WHERE id IN ({marks(rows)})", rows)  # noqa: S608
            connection.known.clear()
            setattr(removed, what, getattr(removed, what) + len(rows))
            return True
    return False


# --------------------------------------------------------------------------------------------------
# Checks

# The maximum number of problems to list.
_MOST = 50

_KINDS: dict[str, Any] = {
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
    for table, kind in _KINDS.items():
        for number, data in connection.execute(f"SELECT id, record FROM {table}"):  # noqa: S608
            try:
                record = decode(decompress(data), kind)
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
