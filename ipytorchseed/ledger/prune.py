"""Deletes old content from the ledger, and the oldest if the ledger is too large.

Each step is a short transaction, so that pruning can run between two cells and stop at any time.
Full states of sources take nine tenths of a ledger and are needed only to go back (``%seed
rewind``). Their digests are enough to explain a change. So states are deleted first.
"""

from __future__ import annotations

import itertools
import sqlite3
import time
from collections.abc import Sequence

from msgspec import Struct

from ipytorchseed.ledger.blobs import SLACK, STRIDE, Connection, marks
from ipytorchseed.ledger.database import Database

_DAY = 86_400.0

# Rows that one step deletes, in about two milliseconds.
_CHUNK = 128

# Pages that one step returns to the file system.
_PAGES = 64

# The share of the allowed size for content; the rest is for SQLite's log.
_FULL = 0.95


class Limits(Struct, frozen=True):
    """How long and how much is kept.

    States that the user saved under a name are never deleted. With the defaults, a year of daily
    work (150 runs a day that move three sources each) takes about 100 MB.

    Attributes:
        states_days: Days that a state is kept after its last use.
        runs_days: Days that a run is kept, and the log of seeds.
        megabytes: The size above which the oldest content is deleted, in 10**6 bytes.
        states_days_full: Days that states are kept in that case, before runs are deleted too.
    """

    states_days: float = 60
    runs_days: float = 400
    megabytes: float = 200
    states_days_full: float = 14


DEFAULTS = Limits()


class Removed(Struct):
    """How much was deleted.

    Attributes:
        runs: The number of runs.
        states: The number of full states.
        values: The number of unreferenced values, texts and settings.
        seeds: The number of entries of the log of seeds.
        finished: False if time ran out.
    """

    runs: int = 0
    states: int = 0
    values: int = 0
    seeds: int = 0
    finished: bool = True

    def __bool__(self) -> bool:
        return bool(self.runs or self.states or self.values or self.seeds)


def prune(database: Database, limits: Limits, now: float, seconds: float | None = None) -> Removed:
    """Delete old content, and the oldest if there is too much.

    Args:
        database: The database of the ledger.
        limits: How long and how much is kept.
        now: Seconds since 1970, UTC.
        seconds: Time after which no further step starts; None for no limit. One step always runs;
            it takes a few milliseconds.

    Returns:
        How much was deleted.

    Raises:
        LedgerError: It failed; the steps before are done.
    """
    deadline = float("inf") if seconds is None else time.perf_counter() + seconds
    removed = Removed()
    rules = _Rules(limits, now)

    steps = 0
    while database.read(rules.next) is not None:
        if steps and time.perf_counter() >= deadline:
            removed.finished = False
            return removed
        if not database.write(lambda connection: rules.drop(connection, removed), otherwise=False):
            return removed
        steps += 1
    while _has_spare_pages(spare := database.read(_spare), thorough=seconds is None):
        if steps and time.perf_counter() >= deadline:
            removed.finished = False
            return removed
        database.outside(_give_back, otherwise=None)
        steps += 1
        if database.read(_spare)[0] >= spare[0]:  # this file cannot shrink
            break
    return removed


def checkpoint(database: Database, *, thorough: bool = False) -> None:
    """Move the content of SQLite's log into the database file, and wait for the disk.

    Args:
        database: The database of the ledger.
        thorough: Wait for other processes, and empty the log.

    Raises:
        LedgerError: It failed; everything is still in the log.
    """
    how = "TRUNCATE" if thorough else "PASSIVE"
    database.outside(
        lambda connection: connection.execute(f"PRAGMA wal_checkpoint({how})").fetchall(),
        otherwise=[],
    )


def used_bytes(connection: sqlite3.Connection) -> int:
    """Return the bytes of all used pages."""
    free, pages = _spare(connection)
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    return int((pages - free) * size)


class _Rules:
    """Chooses what to delete next, and deletes it."""

    def __init__(self, limits: Limits, now: float) -> None:
        self._limits = limits
        self._now = now

    def next(self, connection: sqlite3.Connection) -> tuple[str, list[int]] | None:
        """Return what to delete next, with row ids; None if there is nothing left."""
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
        """Delete and count what ``next`` returns; return whether there was something."""
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
        """Return states that are too old, or dated in the future, and not saved by name."""
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
        """Return the first rows that are too old, or dated in the future by a wrong clock."""
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
    """Return whether to return free pages.

    If there are few, they will be needed again.
    """
    free, pages = spare
    return free > 0 if thorough else free > 4 * _PAGES and 5 * free > pages


def _give_back(connection: sqlite3.Connection) -> None:
    # One empty row for each page: `execute` would stop after the first.
    connection.executescript(f"PRAGMA incremental_vacuum({_PAGES})")
