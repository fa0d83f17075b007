"""The connection to the ledger's file: threads, forks, other processes, damage."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from ipytorchseed.errors import LedgerError
from ipytorchseed.ledger import faults, forks, place, schema
from ipytorchseed.ledger.blobs import Connection
from ipytorchseed.ledger.faults import Fault
from ipytorchseed.ledger.permissions import refuse_unsafe

T = TypeVar("T")
Do = Callable[[Connection], T]

# Seconds to wait for another process that writes, before an error.
PATIENCE = 2.0

# Seconds to wait after such an error, until a write succeeds, so that not every cell waits.
_HURRY = 0.05

# Bytes of a page, which fits three states of a Mersenne Twister. 4096 bytes fit only one.
_PAGE = 8192

_PRAGMAS = (
    f"page_size = {_PAGE}",
    "auto_vacuum = INCREMENTAL",  # lets the file shrink after pruning; must precede the first table
    "journal_mode = WAL",  # readers next to one writer; a commit is one append
    "synchronous = NORMAL",  # durable against a killed process without waiting for the disk
    "journal_size_limit = 8388608",  # the size of the log after a large transaction
    "temp_store = MEMORY",
)

# Seconds for which a file may be empty because another process creates its tables.
_SECONDS_TO_MAKE = 10

_NEWEST = "its newest runs may be lost"


class Database:
    """Runs functions in transactions; errors of SQLite become a ``LedgerError``.

    Args:
        path: The file; None keeps everything in memory.
        read_only: Whether the file is neither created, written nor set aside.
        patience: Seconds to wait for other processes.

    Attributes:
        notices: Lines for the user.

    Raises:
        LedgerError: It cannot be opened.
    """

    def __init__(
        self, path: Path | None, *, read_only: bool = False, patience: float = PATIENCE
    ) -> None:
        self.path = path
        self.notices: list[str] = []
        self._read_only = read_only
        self._patience = patience
        self._waits = patience
        self._files, self._shm = place.Files(None, None, None), 0
        self._filled = self._made = self._child = self._held = self._busy = self._closed = False
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._connection: Connection | None = None
        self._connection = self._open()
        forks.register(self)

    def write(self, do: Do[T], otherwise: T) -> T:
        """Run ``do`` in a transaction; when this returns, its writes are durable.

        Args:
            do: Reads and writes. It may run twice: if the file is damaged, it is renamed, and
                ``do`` runs on a new one.
            otherwise: The result in a forked child, which writes nothing.

        Raises:
            LedgerError: It failed; nothing was written.
        """
        return otherwise if self._is_child() else self._run(self._transact, do)

    def read(self, do: Do[T]) -> T:
        """Run ``do``, which only reads, on a consistent snapshot.

        Raises:
            LedgerError: It failed.
        """
        self._is_child()
        return self._run(self._look, do)

    def outside(self, do: Do[T], otherwise: T) -> T:
        """Run ``do`` without a transaction, if its statements require it."""
        return otherwise if self._is_child() else self._run(lambda do: do(self._ready()), do)

    def close(self) -> None:
        """Close the file; further calls do nothing."""
        self._is_child()
        with self._lock:
            self._closed = True
            if self._connection is not None and self.path is not None:
                self._restore_shm(self.path, place.look(self.path)[1])
            self._disconnect()

    # ----------------------------------------------------------------------------------------------
    # Transactions

    def _run(self, attempt: Callable[[Do[T]], T], do: Do[T]) -> T:
        with self._lock:
            if self._closed or self._busy:  # busy: this thread is inside, through __del__
                how = "is closed" if self._closed else "is being used by this thread"
                raise LedgerError(f"the ledger {self.path or 'in memory'} {how}: nothing was done")
            self._busy = True
            try:
                try:
                    return attempt(do)
                except sqlite3.Error as error:
                    if not self._recover(error):
                        raise
                return attempt(do)
            except sqlite3.Error as error:
                raise faults.explain(error, self.path) from error
            finally:
                self._busy = False

    def _transact(self, do: Do[T]) -> T:
        connection = self._ready()
        try:
            connection.execute("BEGIN IMMEDIATE")
            if connection.changed():
                schema.refuse_newer(connection, self.path)  # another process may be newer
            result = do(connection)
            connection.execute("COMMIT")
        except BaseException as error:
            with suppress(sqlite3.Error):
                connection.forget()
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error) and faults.kind_of(error) is Fault.BUSY:
                self._wait(connection, min(_HURRY, self._patience))
            raise
        if self._waits != self._patience:
            self._wait(connection, self._patience)
        return result

    def _look(self, do: Do[T]) -> T:
        connection = self._ready()
        connection.execute("BEGIN")
        try:
            schema.refuse_newer(connection, self.path)
            return do(connection)
        finally:
            with suppress(sqlite3.Error):
                connection.execute("COMMIT")

    def _ready(self) -> Connection:
        """Return the connection to the current files."""
        if self._connection is not None and self.path is not None:
            self._check_files(self.path)
        if self._connection is None:
            self._connection = self._open()
        elif self._connection.in_transaction:  # an interrupt came between two of our lines
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
        deadline = time.monotonic() + self._patience
        while True:
            try:
                return self._connect()
            except schema.OutdatedError as error:
                if not self._rename_damaged("old", str(error)):
                    self._disconnect()
                    raise
            except LedgerError:
                self._disconnect()
                raise
            except (sqlite3.Error, OSError) as error:
                # SQLite does not always wait if several processes create one file.
                if faults.kind_of(error) is Fault.BUSY and time.monotonic() < deadline:
                    self._disconnect()
                    time.sleep(0.02)
                elif not self._recover(error):
                    self._disconnect()
                    if self.path is not None and self._made:
                        place.remove_empty(self.path)
                    raise faults.explain(error, self.path) from error

    def _connect(self) -> Connection:
        path = self.path
        if path is None:
            connection = Connection(":memory:", isolation_level=None, check_same_thread=False)
            schema.make(connection, None)
            return connection
        refuse_unsafe(path)
        reading = self._read_only or self._child
        if not reading:
            self._check_remains(path)
            self._made = place.prepare(path) or self._made
        elif not path.exists():
            raise LedgerError(f"there is no ledger at {path} yet")
        self._files, sizes = place.look(path)
        # Closing the last connection deletes the log, unless it is read-only. So a newer ledger
        # stays
        # unchanged.
        careful = self._child or sizes.wal > 0
        connection = self._attach("ro" if careful else "rw")
        is_made = schema.is_made(connection, path)
        if reading and not is_made:
            msg = f"the ledger {path} was not made to its end: the next notebook that runs does so"
            raise LedgerError(msg)
        if careful and not reading:
            connection = self._attach("rw")
        if reading:
            connection.execute("PRAGMA query_only = ON")
        else:
            for pragma in _PRAGMAS:
                connection.execute(f"PRAGMA {pragma}").fetchall()
            schema.make(connection, path)
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()  # now all files exist
        refuse_unsafe(path)  # also the files that SQLite and others created meanwhile
        self._files, sizes = place.look(path)
        self._filled, self._made, self._shm = sizes.ledger > 0, False, sizes.shm
        return connection

    def _attach(self, mode: str) -> Connection:
        assert self.path is not None  # noqa: S101 -- the caller looked
        self._disconnect()
        self._connection = Connection(
            f"{self.path.as_uri()}?mode={mode}",
            uri=True,  # SQLite must not create it, with permissions for all
            timeout=self._patience,
            isolation_level=None,  # we begin and end transactions
            check_same_thread=False,  # the lock ensures it
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
        """Find out what was lost of an earlier ledger, and rename the rest."""
        self._files, sizes = place.look(path)
        if sizes.ledger == 0 and sizes.wal:  # SQLite would delete the log
            self._rename_damaged(
                "damaged", f"the ledger {path} was empty or gone, and its log was not"
            )
        elif sizes.ledger == 0 and self._files.ledger is not None:
            if abs(time.time() - path.stat().st_mtime) > _SECONDS_TO_MAKE:
                self.notices.append(f"the ledger {path} was empty: what it held is lost")
        elif self._files.wal is None and self._files.shm == place.look(path)[0].shm is not None:
            place.shm_of(path).unlink(missing_ok=True)
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
            self._rename_damaged("damaged", f"the ledger {path} was emptied while it was in use")
        elif all(was in (None, now) for was, now in zip(self._files, files, strict=True)):
            return
        else:
            self.notices.append(f"the log of the ledger {path} was removed while in use: {_NEWEST}")
            with suppress(sqlite3.Error):  # our connection still has the content
                if self._connection is not None and not self._read_only:
                    self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            if files.shm == self._files.shm and files.shm is not None:  # it belongs to the old log
                place.shm_of(path).unlink(missing_ok=True)
        self._disconnect()

    def _restore_shm(self, path: Path, sizes: place.Sizes) -> None:
        """Restore the size of the log's index if another program truncated it.

        SQLite never shrinks it, and maps it: reading past the end of the file would crash this
        process.
        """
        if sizes.shm < self._shm and self._files.shm is not None:
            place.renew_shm(path, max(self._shm, place.shm_size(sizes.wal // _PAGE)))
        self._shm = max(self._shm, sizes.shm)

    def _recover(self, error: BaseException) -> bool:
        """Rename the file if it is damaged; return whether to try again."""
        return faults.kind_of(error) is Fault.DAMAGED and self._rename_damaged(
            "damaged", f"the ledger {self.path} was damaged ({error})"
        )

    def _rename_damaged(self, word: str, what: str) -> bool:
        """Rename the ledger and its log; return whether it was done."""
        if self.path is None or self._read_only or self._child:
            return False
        try:
            aside = place.rename_damaged(self.path, self._files, word)
        except OSError as failed:
            raise faults.explain(failed, self.path) from failed
        # Only after closing: SQLite does not touch the log of a renamed file.
        self._disconnect()
        if aside is not None:
            self.notices.append(f"{what}: it was renamed to {aside.name}; a new one is used")
        return True

    # ----------------------------------------------------------------------------------------------
    # Forks

    def before_fork(self) -> None:
        """Wait briefly until no thread is in a transaction."""
        self._held = self._lock.acquire(timeout=1.0)

    def after_fork(self) -> None:
        """Let the threads continue."""
        if self._held:
            self._held = False
            self._lock.release()

    def in_child(self) -> None:
        """Drop the parent's connection: reads open a new one, writes do nothing."""
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._busy = self._held = False
        self._child = True
        if self.path is not None and self._connection is not None:
            forks.keep_forever(self._connection)
            self._connection = None

    def _is_child(self) -> bool:
        if self._pid != os.getpid():  # a fork that Python does not know about
            self.in_child()
        return self._child
