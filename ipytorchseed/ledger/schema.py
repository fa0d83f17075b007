"""The tables of the ledger. If the tables or records change, increase ``VERSION``.

A ledger of an older version is renamed, and a new ledger is created.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from ipytorchseed.errors import LedgerError

# ``PRAGMA application_id`` of a ledger (``ITS2`` in ASCII), which identifies our files.
APPLICATION = 0x49545332

# ``PRAGMA user_version`` of a ledger with these tables.
VERSION = 4

# In ``runs``, ``record`` contains the whole run. The other columns are used in queries;
# ``notebook``, ``kernel``, ``cell`` and ``code`` are hashes. Each index costs a page for each run.
# ``id`` is never reused.
#
# ``blobs`` contains states, cell texts, settings and large values, each once. ``key`` is the hash
# of the content. ``last`` and ``used`` are the number and the start of a recent run that refers to
# the blob (see ``blobs.STRIDE`` and ``blobs.SLACK``). States in ``saved`` are kept as long as their
# name.
_STATEMENTS = (
    """CREATE TABLE runs (id INTEGER PRIMARY KEY AUTOINCREMENT,
        notebook INTEGER NOT NULL, kernel INTEGER NOT NULL, cell INTEGER NOT NULL,
        execution_count INTEGER, started REAL NOT NULL, code INTEGER, record BLOB NOT NULL)""",
    "CREATE INDEX runs_cell ON runs (notebook, cell)",
    "CREATE INDEX runs_count ON runs (notebook, execution_count)",
    "CREATE INDEX runs_code ON runs (notebook, code)",
    """CREATE TABLE blobs (id INTEGER PRIMARY KEY, key INTEGER NOT NULL UNIQUE,
        kind INTEGER NOT NULL, last INTEGER NOT NULL, used REAL NOT NULL, data BLOB NOT NULL)""",
    "CREATE INDEX blobs_parts ON blobs (last) WHERE kind = 0",
    "CREATE INDEX blobs_states ON blobs (used) WHERE kind = 1",
    "CREATE TABLE traces (id INTEGER PRIMARY KEY, run INTEGER NOT NULL, record BLOB NOT NULL)",
    "CREATE INDEX traces_run ON traces (run)",
    """CREATE TABLE findings (id INTEGER PRIMARY KEY,
        run INTEGER NOT NULL, against INTEGER NOT NULL, record BLOB NOT NULL,
        UNIQUE (run, against))""",
    """CREATE TRIGGER runs_go AFTER DELETE ON runs BEGIN
        DELETE FROM traces WHERE run = old.id;
        DELETE FROM findings WHERE run = old.id; END""",
    """CREATE TABLE seeds (id INTEGER PRIMARY KEY,
        notebook INTEGER NOT NULL, applied REAL NOT NULL, record BLOB NOT NULL)""",
    "CREATE INDEX seeds_notebook ON seeds (notebook)",
    """CREATE TABLE saves (id INTEGER PRIMARY KEY,
        notebook INTEGER NOT NULL, name INTEGER NOT NULL, record BLOB NOT NULL,
        UNIQUE (notebook, name))""",
    """CREATE TABLE saved (blob INTEGER NOT NULL, save INTEGER NOT NULL,
        PRIMARY KEY (blob, save)) WITHOUT ROWID""",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)


class OutdatedError(LedgerError):
    """The file is a ledger of an older version, which can no longer be read."""


def is_made(connection: sqlite3.Connection, path: Path | None) -> bool:
    """Return whether the file has our tables; False if it is empty.

    Raises:
        LedgerError: The file has a newer version, or belongs to another program.
        OutdatedError: The file has an older version.
        sqlite3.Error: The file cannot be read.
    """
    # Check this first: another process may create the tables and the ids below at any time.
    if connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None:
        return False
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION:
        raise LedgerError(f"{path} is a database of another program, not a ledger: move it away")
    if refuse_newer(connection, path) < VERSION:
        raise OutdatedError(f"the ledger {path} has an old format that can no longer be read")
    return True


def make(connection: sqlite3.Connection, path: Path | None) -> None:
    """Create the tables in one transaction, unless the file has them.

    Args:
        connection: A connection in autocommit mode.
        path: The path of the file, for messages.

    Raises:
        LedgerError: See ``is_made``.
        sqlite3.Error: The tables cannot be created; nothing was changed.
    """
    if is_made(connection, path):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not is_made(connection, path):  # another process may have created them by now
            for statement in _STATEMENTS:
                connection.execute(statement)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def refuse_newer(connection: sqlite3.Connection, path: Path | None) -> int:
    """Return the version of the file.

    Raises:
        LedgerError: The version is newer than ``VERSION``.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > VERSION:
        raise LedgerError(
            f"the ledger {path} was made by a newer ipytorchseed (tables of version {version}, "
            f"here {VERSION}): upgrade ipytorchseed; nothing was written"
        )
    return int(version)
