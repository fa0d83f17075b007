"""The connection to the ledger's file; handles threads, forks, locks and damage.

A forked child must not use or close connections of its parent
(https://www.sqlite.org/howtocorrupt.html, "Carrying an open database connection across a fork()"):
it does not inherit the locks that the connection relies on, and closing the connection may delete
the log that the parent uses.
"""

from __future__ import annotations

import ctypes
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from ipytorchseed.errors import LedgerError
from ipytorchseed.ledger import place, schema
from ipytorchseed.ledger.blobs import Connection
from ipytorchseed.ledger.place import Fault, explain, kind_of

P = ParamSpec("P")
T = TypeVar("T")
Do = Callable[Concatenate[Connection, P], T]

# Seconds to wait for another process that writes, before an error is raised.
PATIENCE = 2.0

# Seconds to wait after such an error, until a write succeeds again. Otherwise each cell would wait
# for long.
_HURRY = 0.05

# The page size in bytes. It fits three states of a Mersenne Twister; 4096 bytes fit only one.
_PAGE = 8192

_PRAGMAS = (
    f"page_size = {_PAGE}",
    "auto_vacuum = INCREMENTAL",  # lets the file shrink after pruning; must precede the first table
    "journal_mode = WAL",  # allows readers during a write; a commit is one append
    "synchronous = NORMAL",  # survives a killed process without waiting for the disk
    "journal_size_limit = 8388608",  # truncates the log after a large transaction
    "temp_store = MEMORY",
)

# In an empty file that is younger than this, in seconds, another process may be creating tables.
_SECONDS_TO_MAKE = 10

# The statements that begin a transaction.
_READ, _WRITE = "BEGIN", "BEGIN IMMEDIATE"

_NEWEST = "its newest runs may be lost"


class Database:
    """A connection to SQLite, whose errors become a ``LedgerError``.

    Args:
        path: The file, or None for a database in memory.
        read_only: Whether to only read the file: it is not created, written or renamed.

    Attributes:
        notices: Lines to show to the user.

    Raises:
        LedgerError: The file cannot be opened.
    """

    def __init__(self, path: Path | None, *, read_only: bool = False) -> None:
        self.path = path
        self.notices: list[str] = []
        self._read_only = read_only
        self._files, self._shm, self._waits = place.Files(None, None, None), 0, PATIENCE
        self._filled = self._made = self._child = self._held = self._closed = False
        self._lock = threading.RLock()
        self._connection: Connection | None = None
        self._connection = self._open()
        _databases.add(self)

    def write(self, do: Do[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
        """Run ``do`` in a transaction, and return its result.

        Once this returns, the data is not lost if the process is killed.

        Args:
            do: Reads and writes. If the file is damaged, it is renamed, and ``do`` runs a second
                time with a new file. It does not run in a forked child, where the result is None.
            *args: The arguments of ``do`` after the connection.
            **kwargs: The keyword arguments of ``do``.

        Raises:
            LedgerError: The transaction failed; nothing was written.
        """
        if self._child:
            return None
        return self._run(lambda: self._transact(_WRITE, do, *args, **kwargs))

    def read(self, do: Do[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run ``do``, which only reads, in a transaction, and return its result.

        Raises:
            LedgerError: Reading failed.
        """
        return self._run(lambda: self._transact(_READ, do, *args, **kwargs))

    def pragma(self, statement: str) -> None:
        """Run a pragma to its end, outside a transaction; do nothing in a forked child.

        Raises:
            LedgerError: It failed.
        """
        if not self._child:
            self._run(lambda: self._ready().executescript(f"PRAGMA {statement}"))

    def close(self) -> None:
        """Close the file. Closing it again does nothing."""
        with self._lock:
            self._closed = True
            if self._connection is not None and self.path is not None:
                self._restore_shm(self.path, place.look(self.path)[1])
            self._disconnect()

    # ----------------------------------------------------------------------------------------------
    # Transactions

    def _run(self, attempt: Callable[[], T]) -> T:
        with self._lock:
            if self._closed:
                where = self.path or "in memory"
                raise LedgerError(f"the ledger {where} is closed: nothing was done")
            try:
                try:
                    return attempt()
                except sqlite3.Error as error:
                    if not self._recover(error):
                        raise
                return attempt()
            except sqlite3.Error as error:
                raise explain(error, self.path) from error

    def _transact(self, begin: str, do: Do[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        connection = self._ready()
        try:
            connection.execute(begin)
            if connection.changed():
                schema.refuse_newer(connection, self.path)  # another process may be newer
            result = do(connection, *args, **kwargs)
            connection.execute("COMMIT")
        except BaseException as error:
            with suppress(sqlite3.Error):
                connection.forget()
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                if kind_of(error) is Fault.BUSY:
                    self._wait(connection, min(_HURRY, PATIENCE))
            raise
        if begin == _WRITE and self._waits != PATIENCE:
            self._wait(connection, PATIENCE)
        return result

    def _ready(self) -> Connection:
        """Return the connection; open it again if its files were replaced."""
        if self._connection is not None and self.path is not None:
            self._check_files(self.path)
        if self._connection is None:
            self._connection = self._open()
        elif self._connection.in_transaction:  # an interrupt skipped the rollback
            self._connection.forget()
            self._connection.execute("ROLLBACK")
        return self._connection

    def _wait(self, connection: Connection, seconds: float) -> None:
        self._waits = seconds
        with suppress(sqlite3.Error):
            connection.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")

    # ----------------------------------------------------------------------------------------------
    # Opening

    def _open(self) -> Connection:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return self._connect()
            except LedgerError as error:
                outdated = isinstance(error, schema.OutdatedError)
                if not (outdated and self._rename_damaged(str(error), "old")):
                    self._disconnect()
                    raise
            except (sqlite3.Error, OSError) as error:
                # SQLite does not always wait if several processes create one file.
                if kind_of(error) is Fault.BUSY and time.monotonic() < deadline:
                    time.sleep(0.02)
                elif not self._recover(error):
                    self._disconnect()
                    if self.path is not None and self._made:
                        place.remove_empty(self.path)
                    raise explain(error, self.path) from error

    def _connect(self) -> Connection:
        path = self.path
        if path is None:
            connection = Connection(":memory:", isolation_level=None, check_same_thread=False)
            schema.make(connection, None)
            return connection
        place.refuse_unsafe(path)
        reading = self._read_only or self._child
        if not reading:
            self._check_remains(path)
            self._made = place.prepare(path) or self._made
        elif not path.exists():
            raise LedgerError(f"there is no ledger at {path} yet")
        self._files, sizes = place.look(path)
        # Check the version with a read-only connection first: closing the last writable connection
        # would delete the log of a newer ledger.
        careful = self._child or sizes.wal > 0
        connection = self._attach(path, "ro" if careful else "rw")
        is_made = schema.is_made(connection, path)
        if reading and not is_made:
            msg = f"the ledger {path} is incomplete: run a notebook to finish creating it"
            raise LedgerError(msg)
        if careful and not reading:
            connection = self._attach(path, "rw")
        if reading:
            connection.execute("PRAGMA query_only = ON")
        else:
            for pragma in _PRAGMAS:
                connection.execute(f"PRAGMA {pragma}").fetchall()
            schema.make(connection, path)
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()  # now all files exist
        place.refuse_unsafe(path)  # again, for files that SQLite and other processes have created
        self._files, sizes = place.look(path)
        self._filled, self._made, self._shm = sizes.ledger > 0, False, sizes.shm
        return connection

    def _attach(self, path: Path, mode: str) -> Connection:
        self._disconnect()
        self._waits = PATIENCE
        self._connection = Connection(
            f"{path.as_uri()}?mode={mode}",
            uri=True,  # keeps SQLite from creating the file, which other users could then read
            timeout=PATIENCE,
            isolation_level=None,  # we begin and end transactions
            check_same_thread=False,  # only one thread at a time: see `_lock`
        )
        return self._connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            with suppress(sqlite3.Error):
                connection.close()

    # ----------------------------------------------------------------------------------------------
    # Damage

    def _check_remains(self, path: Path) -> None:
        """Check whether files of the ledger are missing; rename or remove the rest."""
        self._files, sizes = place.look(path)
        if sizes.ledger == 0 and sizes.wal:  # SQLite would delete the log
            self._rename_damaged(f"the ledger {path} was empty or gone, and its log was not")
        elif sizes.ledger == 0 and self._files.ledger is not None:
            if abs(time.time() - path.stat().st_mtime) > _SECONDS_TO_MAKE:
                self.notices.append(f"the ledger {path} was empty: what it held is lost")
        elif self._files.wal is None and self._files.shm == place.look(path)[0].shm is not None:
            place.sibling(path, "-shm").unlink(missing_ok=True)
            self.notices.append(f"the log of the ledger {path} is gone: {_NEWEST}")

    def _check_files(self, path: Path) -> None:
        """Check whether the open files were replaced, emptied or truncated."""
        files, sizes = place.look(path)
        self._restore_shm(path, sizes)
        if files == self._files and sizes.ledger:
            return
        if files.ledger != self._files.ledger:
            self.notices.append(f"the ledger {path} was moved or removed: a new one is used")
        elif sizes.ledger == 0 and self._filled:
            self._rename_damaged(f"the ledger {path} was emptied while it was in use")
        elif all(was in (None, now) for was, now in zip(self._files, files, strict=True)):
            return
        else:
            self.notices.append(f"the log of the ledger {path} was removed while in use: {_NEWEST}")
            with suppress(sqlite3.Error):  # our connection can still read the removed log
                if self._connection is not None and not self._read_only:
                    self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            if files.shm == self._files.shm and files.shm is not None:  # it belongs to the old log
                place.sibling(path, "-shm").unlink(missing_ok=True)
        self._disconnect()

    def _restore_shm(self, path: Path, sizes: place.Sizes) -> None:
        """Restore the size of the log's index if another program truncated it.

        SQLite maps the index and never truncates it. Reading past the end of the file would crash
        this process.
        """
        if sizes.shm < self._shm and self._files.shm is not None:
            place.renew_shm(path, self._shm, sizes.wal // _PAGE)
        self._shm = max(self._shm, sizes.shm)

    def _recover(self, error: BaseException) -> bool:
        """Rename the file if it is damaged; return whether to try again."""
        what = f"the ledger {self.path} was damaged ({error})"
        return kind_of(error) is Fault.DAMAGED and self._rename_damaged(what)

    def _rename_damaged(self, what: str, word: str = "damaged") -> bool:
        """Rename the ledger and its log; return whether a new ledger can be opened."""
        if self.path is None or self._read_only or self._child:
            return False
        try:
            aside = place.rename_damaged(self.path, self._files, word)
        except OSError as failed:
            raise explain(failed, self.path) from failed
        # Rename first, then close: SQLite does not touch the log of a renamed file.
        self._disconnect()
        if aside is not None:
            self.notices.append(f"{what}: it was renamed to {aside.name}; a new one is used")
        return True

    # ----------------------------------------------------------------------------------------------
    # Forks

    def before_fork(self) -> None:
        """Acquire the lock, waiting at most a second for a thread in a transaction."""
        self._held = self._lock.acquire(timeout=1.0)

    def after_fork(self) -> None:
        """Release the lock."""
        if self._held:
            self._held = False
            self._lock.release()

    def in_child(self) -> None:
        """Drop the parent's connection. Reads open a new connection, writes do nothing."""
        self._lock = threading.RLock()
        self._held, self._child = False, True
        if self.path is not None and self._connection is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._connection))  # so it is never closed
            self._connection = None


# The databases whose methods are called around each fork.
_databases: weakref.WeakSet[Database] = weakref.WeakSet()

# Set once this process has forked.
forked = threading.Event()


def _tell(method: str) -> None:
    for database in [*_databases]:
        getattr(database, method)()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(before=forked.set)
    os.register_at_fork(
        before=partial(_tell, "before_fork"),
        after_in_parent=partial(_tell, "after_fork"),
        after_in_child=partial(_tell, "in_child"),
    )
