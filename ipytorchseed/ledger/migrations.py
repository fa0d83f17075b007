"""The ledger's tables: numbered steps, each one transaction, none ever edited.

A change of the tables is a new step at the end. ``PRAGMA user_version`` in the file says how many
of them it has been through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ipytorchseed.errors import LedgerError

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

APPLICATION = 0x49545331
"""Tells a ledger from another program's file: ``ITS1`` in ``PRAGMA application_id``."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (  # 1: the first tables
        # Names, cell sources, settings and large values, once each. `key` is the hash of the
        # content; `last` is the number of a recent run that refers to it (see things.STRIDE).
        # Numbers are never given again, so that what a process remembers of one stays true.
        """CREATE TABLE things (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            key INTEGER NOT NULL UNIQUE,
            last INTEGER NOT NULL,
            data BLOB NOT NULL)""",
        "CREATE INDEX things_last ON things (last)",
        # Full states of sources, once each, in the order of their last use: one used again after
        # an hour moves to the end, so that the oldest are always the first.
        """CREATE TABLE states (
            id INTEGER PRIMARY KEY,
            digest TEXT NOT NULL UNIQUE,
            used REAL NOT NULL,
            data BLOB NOT NULL)""",
        # Columns for what is asked for; all else is in `payload`. `notebook`, `kernel` and `cell`
        # are things. Each index is a page more to write for each run.
        """CREATE TABLE runs (
            id INTEGER PRIMARY KEY,
            notebook INTEGER NOT NULL,
            kernel INTEGER NOT NULL,
            cell INTEGER NOT NULL,
            execution_count INTEGER,
            started REAL NOT NULL,
            seconds REAL NOT NULL,
            status TEXT NOT NULL,
            payload BLOB NOT NULL)""",
        "CREATE INDEX runs_cell ON runs (notebook, cell)",
        "CREATE INDEX runs_count ON runs (notebook, execution_count)",
        # Seeds and saves know their notebook by the hash of its name: they outlive its runs.
        """CREATE TABLE seeds (
            id INTEGER PRIMARY KEY,
            notebook INTEGER NOT NULL,
            applied REAL NOT NULL,
            data BLOB NOT NULL)""",
        "CREATE INDEX seeds_notebook ON seeds (notebook)",
        """CREATE TABLE saves (
            id INTEGER PRIMARY KEY,
            notebook INTEGER NOT NULL,
            name BLOB NOT NULL,
            data BLOB NOT NULL,
            UNIQUE (notebook, name))""",
        # Copies of their own: pruning `states` needs not ask who saved what.
        """CREATE TABLE saved_states (
            save INTEGER NOT NULL,
            digest TEXT NOT NULL,
            data BLOB NOT NULL,
            PRIMARY KEY (save, digest))""",
        "CREATE INDEX saved_states_digest ON saved_states (digest)",
        "CREATE TABLE facts (name TEXT PRIMARY KEY, value REAL NOT NULL) WITHOUT ROWID",
        f"PRAGMA application_id = {APPLICATION}",
    ),
    (  # 2: what was seen of a run's operations, by --check, --trace and --warn
        "CREATE TABLE traces (id INTEGER PRIMARY KEY, run INTEGER NOT NULL, data BLOB NOT NULL)",
        "CREATE INDEX traces_run ON traces (run)",
        # They go with their run, whoever drops it.
        """CREATE TRIGGER traces_go AFTER DELETE ON runs BEGIN
            DELETE FROM traces WHERE run = old.id; END""",
    ),
    (  # 3: up to which byte the generations of tails are in the tables
        "CREATE TABLE tails (generation INTEGER PRIMARY KEY, done INTEGER NOT NULL)",
    ),
)
"""Append only."""

_HEADER = slice(60, 64)
"""Where a file of SQLite keeps ``user_version`` (https://www.sqlite.org/fileformat.html)."""


def refuse_newer(path: Path) -> None:
    """Refuse a ledger of a later ipytorchseed before SQLite touches it.

    Raises:
        LedgerError: Its tables are newer than those known here.
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        header = file.read(100)
    if header.startswith(b"SQLite format 3\0"):
        _refuse(int.from_bytes(header[_HEADER], "big"), path)


def version_of(connection: sqlite3.Connection, path: Path | None) -> int:
    """Return how many steps the file has been through.

    Raises:
        LedgerError: More than are known here, or it is another program's.
        sqlite3.Error: It cannot be read.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    # In this order: another process may make the tables, and its mark with them, at any moment.
    filled = connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if filled and application != APPLICATION:
        msg = f"{path} is another program's database, no ledger: move it away"
        raise LedgerError(msg)
    _refuse(version, path)
    return int(version)


def migrate(connection: sqlite3.Connection, path: Path | None) -> None:
    """Take the file through the steps that it has not been through.

    Args:
        connection: In autocommit mode.
        path: The file, for messages.

    Raises:
        LedgerError: It is newer, or another program's.
        sqlite3.Error: A step failed; those before it are done, this one left nothing behind.
    """
    while version_of(connection, path) < len(MIGRATIONS):
        connection.execute("BEGIN IMMEDIATE")
        try:
            version = version_of(connection, path)  # another process may have been first
            if version < len(MIGRATIONS):
                for statement in MIGRATIONS[version]:
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {version + 1}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _refuse(version: int, path: Path | None) -> None:
    if version > len(MIGRATIONS):
        msg = (
            f"the ledger {path} was made by a newer ipytorchseed (tables of version {version}, "
            f"here {len(MIGRATIONS)}): upgrade ipytorchseed; nothing was written"
        )
        raise LedgerError(msg)
