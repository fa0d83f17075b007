"""Deletes old content from the ledger; more of it if the ledger is too large.

Pruning consists of short transactions, so it can run between two cells and stop at any time. Full
states of sources are deleted first. They need nine tenths of the space, and are only needed to
restore a state (``%seed rewind``): to explain a change, their digests are enough.
"""

from __future__ import annotations

import itertools
import sqlite3
import time
from collections.abc import Iterator, Sequence

from msgspec import Struct

from ipytorchseed.ledger.blobs import SLACK, STRIDE, Connection, marks
from ipytorchseed.ledger.database import Database

_DAY = 86_400.0

# The number of rows that one step deletes, in about two milliseconds.
_CHUNK = 128

# The number of pages that one step returns to the file system.
_PAGES = 64

# The share of the allowed size that content may use. The rest is for SQLite's log.
_FULL = 0.95


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
    steps = _steps(database, _Rules(limits, now), removed, thorough=seconds is None)
    for number, _ in enumerate(steps):
        if number and time.perf_counter() >= deadline:
            removed.finished = False
            break
    return removed


def _steps(
    database: Database, rules: _Rules, removed: Removed, *, thorough: bool
) -> Iterator[None]:
    """Prune, and yield before each step."""
    while database.read(rules.next) is not None:
        yield
        if not database.write(rules.drop, removed):
            return
    while _has_spare_pages(spare := database.read(_spare), thorough=thorough):
        yield
        database.pragma(f"incremental_vacuum({_PAGES})")
        if database.read(_spare)[0] >= spare[0]:  # this file cannot shrink
            return


def used_bytes(connection: sqlite3.Connection) -> int:
    """Return the total size of all used pages, in bytes."""
    free, pages = _spare(connection)
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    return int((pages - free) * size)


class _Rules:
    """Chooses what to delete next, and deletes it."""

    def __init__(self, limits: Limits, now: float) -> None:
        self._limits = limits
        self._now = now

    def next(self, connection: sqlite3.Connection) -> tuple[str, list[int]] | None:
        """Return the next rows to delete: their field in ``Removed``, and their ids.

        Return None if there is nothing left to delete.
        """
        rows = connection.execute("SELECT id, started FROM runs ORDER BY id LIMIT 1").fetchall()
        first_run, first_started = rows[0] if rows else (2**62, float("inf"))
        limits = self._limits
        states_before = max(self._ago(limits.states_days), first_started - SLACK)
        if old := self._states(connection, states_before):
            return "states", old
        for table, column in (("runs", "started"), ("seeds", "applied")):
            if old := self._older(connection, table, column, self._ago(limits.runs_days)):
                return table, old
        query = "SELECT id FROM blobs WHERE kind = 0 AND last <= ? LIMIT ?"
        if old := _column(connection, query, (first_run - STRIDE, _CHUNK)):
            return "values", old
        if used_bytes(connection) > limits.megabytes * 1e6 * _FULL:
            before = max(self._ago(limits.states_days_full), first_started)
            if old := self._states(connection, before):
                return "states", old
            if old := _column(connection, "SELECT id FROM runs ORDER BY id LIMIT ?", (_CHUNK,)):
                return "runs", old
        return None

    def drop(self, connection: Connection, removed: Removed) -> bool:
        """Delete and count the rows that ``next`` returns; return whether it found any."""
        found = self.next(connection)
        if found is None:
            return False
        what, rows = found
        table = "blobs" if what in ("states", "values") else what
        connection.execute(f"DELETE FROM {table} WHERE id IN ({marks(rows)})", rows)  # noqa: S608
        connection.known.clear()
        setattr(removed, what, getattr(removed, what) + len(rows))
        return True

    def _ago(self, days: float) -> float:
        return self._now - days * _DAY

    def _states(self, connection: sqlite3.Connection, before: float) -> list[int]:
        """Return unnamed states that are too old or, by a wrong clock, in the future."""
        for when, edge in (("<", before), (">", self._now + _DAY)):
            query = f"""
                SELECT id FROM blobs WHERE kind = 1 AND used {when} ?
                AND NOT EXISTS (SELECT 1 FROM saved WHERE blob = key) LIMIT ?"""  # noqa: S608
            if old := _column(connection, query, (edge, _CHUNK)):
                return old
        return []

    def _older(
        self, connection: sqlite3.Connection, table: str, column: str, before: float
    ) -> list[int]:
        """Return the first rows that are too old or, by a wrong clock, in the future."""
        query = f"SELECT id, {column} FROM {table} ORDER BY id LIMIT ?"  # noqa: S608 -- ours
        rows = connection.execute(query, (_CHUNK,))
        late = self._now + _DAY
        return [row for row, _ in itertools.takewhile(lambda r: not before <= r[1] <= late, rows)]


def _column(connection: sqlite3.Connection, query: str, values: Sequence[float]) -> list[int]:
    return [each for (each,) in connection.execute(query, values)]


def _spare(connection: sqlite3.Connection) -> tuple[int, int]:
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    return free, pages


def _has_spare_pages(spare: tuple[int, int], *, thorough: bool) -> bool:
    """Return whether to return free pages to the file system.

    A few free pages are kept for later runs, unless ``thorough`` is set.
    """
    free, pages = spare
    return free > 0 if thorough else free > 4 * _PAGES and 5 * free > pages
