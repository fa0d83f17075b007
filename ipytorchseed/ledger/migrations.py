"""The ledger's schema: numbered migrations, each one transaction, never edited.

A change of the tables is a new migration at the end. ``PRAGMA user_version`` in the file is the
number of applied migrations.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from ipytorchseed.errors import LedgerError

# ``PRAGMA application_id`` of a ledger, ``ITS2``, which identifies our files.
APPLICATION = 0x49545332

# That of ledgers from before the first release, which are no longer readable.
_OUTDATED = 0x49545331

# Append only.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (  # 1: the first tables
        # Columns that queries use; everything is in `record`. `notebook`, `kernel` and `cell` are
        # hashes of names. Each index costs a page for each run. Numbers are never reused: `#17`
        # is
        # always the same run.
        """CREATE TABLE runs (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            notebook INTEGER NOT NULL,
            kernel INTEGER NOT NULL,
            cell INTEGER NOT NULL,
            execution_count INTEGER,
            started REAL NOT NULL,
            record BLOB NOT NULL)""",
        "CREATE INDEX runs_cell ON runs (notebook, cell)",
        "CREATE INDEX runs_count ON runs (notebook, execution_count)",
        # States, cell texts, settings and large values, each once. `key` is the hash of the
        # content; `last` and `used` are the number and the start of a recent run that refers to
        # it (see blobs.STRIDE and blobs.SLACK).
        """CREATE TABLE blobs (
            id INTEGER PRIMARY KEY,
            key INTEGER NOT NULL UNIQUE,
            kind INTEGER NOT NULL,
            last INTEGER NOT NULL,
            used REAL NOT NULL,
            data BLOB NOT NULL)""",
        "CREATE INDEX blobs_parts ON blobs (last) WHERE kind = 0",
        "CREATE INDEX blobs_states ON blobs (used) WHERE kind = 1",
        # Recorded operations of a run, by --check, --trace and --warn.
        "CREATE TABLE traces (id INTEGER PRIMARY KEY, run INTEGER NOT NULL, record BLOB NOT NULL)",
        "CREATE INDEX traces_run ON traces (run)",
        """CREATE TRIGGER traces_go AFTER DELETE ON runs BEGIN
            DELETE FROM traces WHERE run = old.id; END""",
        """CREATE TABLE seeds (
            id INTEGER PRIMARY KEY,
            notebook INTEGER NOT NULL,
            applied REAL NOT NULL,
            record BLOB NOT NULL)""",
        "CREATE INDEX seeds_notebook ON seeds (notebook)",
        """CREATE TABLE saves (
            id INTEGER PRIMARY KEY,
            notebook INTEGER NOT NULL,
            name INTEGER NOT NULL,
            record BLOB NOT NULL,
            UNIQUE (notebook, name))""",
        # States that are kept as long as their names.
        """CREATE TABLE saved (
            blob INTEGER NOT NULL,
            save INTEGER NOT NULL,
            PRIMARY KEY (blob, save)) WITHOUT ROWID""",
        f"PRAGMA application_id = {APPLICATION}",
    ),
    (  # 2: find runs by text and by rank
        "ALTER TABLE runs ADD COLUMN code INTEGER",
        "ALTER TABLE runs ADD COLUMN rank INTEGER",
        "CREATE INDEX runs_code ON runs (notebook, code)",
    ),
    (  # 3: what experiments showed about pairs of runs
        """CREATE TABLE findings (
            id INTEGER PRIMARY KEY,
            run INTEGER NOT NULL,
            against INTEGER NOT NULL,
            record BLOB NOT NULL,
            UNIQUE (run, against))""",
        """CREATE TRIGGER findings_go AFTER DELETE ON runs BEGIN
            DELETE FROM findings WHERE run = old.id; END""",
    ),
)


class OutdatedError(LedgerError):
    """The file is a ledger from before the first release, which is no longer readable."""


def version_of(connection: sqlite3.Connection, path: Path | None) -> int:
    """Return the number of migrations that were applied to the file.

    Raises:
        LedgerError: It had more than this version knows, or it belongs to another program.
        OutdatedError: It is from before the first release.
        sqlite3.Error: It cannot be read.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    # In this order, because another process may create the tables and set its mark at any moment.
    filled = connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if filled and application == _OUTDATED:
        raise OutdatedError(f"the ledger {path} is of an old format, which cannot be read any more")
    if filled and application != APPLICATION:
        raise LedgerError(f"{path} is another program's database, no ledger: move it away")
    return refuse_newer(connection, path, int(version))


def migrate(connection: sqlite3.Connection, path: Path | None) -> None:
    """Apply the missing migrations to the file.

    Args:
        connection: In autocommit mode.
        path: The file, for messages.

    Raises:
        LedgerError: It is newer, or belongs to another program.
        sqlite3.Error: A migration failed and was rolled back; those before it are done.
    """
    while version_of(connection, path) < len(MIGRATIONS):
        connection.execute("BEGIN IMMEDIATE")
        try:
            version = version_of(connection, path)  # another process may have been faster
            if version < len(MIGRATIONS):
                for statement in MIGRATIONS[version]:
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {version + 1}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def refuse_newer(connection: sqlite3.Connection, path: Path | None, version: int = -1) -> int:
    """Return the number of applied migrations, unless this version has fewer.

    Raises:
        LedgerError: It had more, from a newer ipytorchseed in another process.
    """
    if version < 0:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(MIGRATIONS):
        raise LedgerError(
            f"the ledger {path} was made by a newer ipytorchseed (tables of version {version}, "
            f"here {len(MIGRATIONS)}): upgrade ipytorchseed; nothing was written"
        )
    return version
