"""The one connection to the ledger's file: threads, forks, other processes and damage."""

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
from ipytorchseed.ledger import faults, forks, migrations, place
from ipytorchseed.ledger.blobs import Connection
from ipytorchseed.ledger.faults import Fault
from ipytorchseed.ledger.permissions import refuse_unsafe

T = TypeVar("T")
Do = Callable[[Connection], T]

PATIENCE = 2.0
"""Seconds to wait for another process that writes, before an error."""

_HURRY = 0.05
"""Seconds to wait once that has failed, until a write succeeds: not every cell is to be delayed."""

_PAGE = 8192
"""Bytes of a page: it holds three states of a Mersenne Twister, and one of 4096 bytes only one."""

_PRAGMAS = (
    f"page_size = {_PAGE}",
    "auto_vacuum = INCREMENTAL",  # what is pruned can be given back; must precede the first table
    "journal_mode = WAL",  # readers and one writer side by side; a commit is one append
    "synchronous = NORMAL",  # durable against a killed process without waiting for the disk
    "journal_size_limit = 8388608",  # what the log shrinks to after a large transaction
    "temp_store = MEMORY",
)

_SECONDS_TO_MAKE = 10
"""Seconds that a file may be empty, as another process is creating its tables."""

_NEWEST = "its newest runs may be lost"


class Database:
    """Runs functions inside transactions; what SQLite raises becomes a ``LedgerError``.

    Args:
        path: The file; None keeps everything in memory.
        read_only: Whether the file is neither created, written nor set aside.
        patience: Seconds to wait for other processes.

    Attributes:
        notices: What the user should be told, a line each.

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
        """Run ``do`` in a transaction of its own; when this returns, what it wrote is durable.

        Args:
            do: Reads and writes. It may be run twice: a damaged file is set aside, and it is then
                run on the new one.
            otherwise: What a forked child gets, where nothing is done.

        Raises:
            LedgerError: It failed; nothing of it is kept.
        """
        return otherwise if self._is_child() else self._run(self._transact, do)

    def read(self, do: Do[T]) -> T:
        """Run ``do``, which only reads, on the content of one moment.

        Raises:
            LedgerError: It failed.
        """
        self._is_child()
        return self._run(self._look, do)

    def outside(self, do: Do[T], otherwise: T) -> T:
        """Run ``do`` outside a transaction, for statements that demand it; else as ``write``."""
        return otherwise if self._is_child() else self._run(lambda do: do(self._ready()), do)

    def close(self) -> None:
        """Close the file; calling it again does nothing."""
        self._is_child()
        with self._lock:
            self._closed = True
            if self._connection is not None and self.path is not None:
                self._mend_shm(self.path, place.look(self.path)[1])
            self._disconnect()

    # ----------------------------------------------------------------------------------------------
    # Transactions

    def _run(self, attempt: Callable[[Do[T]], T], do: Do[T]) -> T:
        with self._lock:
            if self._closed or self._busy:  # busy: this very thread is inside, by way of __del__
                how = "is closed" if self._closed else "is being used by this thread"
                raise LedgerError(f"the ledger {self.path or 'in memory'} {how}: nothing was done")
            self._busy = True
            try:
                try:
                    return attempt(do)
                except sqlite3.Error as error:
                    if not self._mend(error):
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
                migrations.refuse_newer(connection, self.path)  # another process may be a later one
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
            migrations.refuse_newer(connection, self.path)
            return do(connection)
        finally:
            with suppress(sqlite3.Error):
                connection.execute("COMMIT")

    def _ready(self) -> Connection:
        """Return the connection, to the files that are there now."""
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
            except migrations.OutdatedError as error:
                if not self._set_aside("old", str(error)):
                    self._disconnect()
                    raise
            except LedgerError:
                self._disconnect()
                raise
            except (sqlite3.Error, OSError) as error:
                # Several that create one file at once: SQLite does not always wait by itself.
                if faults.kind_of(error) is Fault.BUSY and time.monotonic() < deadline:
                    self._disconnect()
                    time.sleep(0.02)
                elif not self._mend(error):
                    self._disconnect()
                    if self.path is not None and self._made:
                        place.remove_empty(self.path)
                    raise faults.explain(error, self.path) from error

    def _connect(self) -> Connection:
        path = self.path
        if path is None:
            connection = Connection(":memory:", isolation_level=None, check_same_thread=False)
            migrations.migrate(connection, None)
            return connection
        refuse_unsafe(path)
        reading = self._read_only or self._child
        if not reading:
            self._check_remains(path)
            self._made = place.prepare(path) or self._made
        elif not path.exists():
            raise LedgerError(f"there is no ledger at {path} yet")
        self._files, sizes = place.look(path)
        # Closing the last connection takes the log away, unless it is one that cannot write. So a
        # ledger that turns out to be a newer one's is left as it is.
        careful = self._child or sizes.wal > 0
        connection = self._attach("ro" if careful else "rw")
        version = migrations.version_of(connection, path)
        if reading and version < len(migrations.MIGRATIONS):
            msg = f"the ledger {path} was not made to its end: the next notebook that runs does so"
            raise LedgerError(msg)
        if careful and not reading:
            connection = self._attach("rw")
        if reading:
            connection.execute("PRAGMA query_only = ON")
        else:
            for pragma in _PRAGMAS:
                connection.execute(f"PRAGMA {pragma}").fetchall()
            migrations.migrate(connection, path)
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()  # now all files are there
        refuse_unsafe(path)  # also what SQLite and others made meanwhile
        self._files, sizes = place.look(path)
        self._filled, self._made, self._shm = sizes.ledger > 0, False, sizes.shm
        return connection

    def _attach(self, mode: str) -> Connection:
        assert self.path is not None  # noqa: S101 -- the caller looked
        self._disconnect()
        self._connection = Connection(
            f"{self.path.as_uri()}?mode={mode}",
            uri=True,  # not to be made by SQLite, with rights for all
            timeout=self._patience,
            isolation_level=None,  # transactions begin and end where we say
            check_same_thread=False,  # the lock sees to it
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
        """Before opening, note what was lost of an earlier ledger, and set aside what is left."""
        self._files, sizes = place.look(path)
        if sizes.ledger == 0 and sizes.wal:  # SQLite would delete the log
            self._set_aside("damaged", f"the ledger {path} was empty or gone, and its log was not")
        elif sizes.ledger == 0 and self._files.ledger is not None:
            if abs(time.time() - path.stat().st_mtime) > _SECONDS_TO_MAKE:
                self.notices.append(f"the ledger {path} was empty: what it held is lost")
        elif self._files.wal is None and self._files.shm == place.look(path)[0].shm is not None:
            place.shm_of(path).unlink(missing_ok=True)
            self.notices.append(f"the log of the ledger {path} is gone: {_NEWEST}")

    def _check_files(self, path: Path) -> None:
        """Check whether the files were replaced, emptied or truncated since they were opened."""
        files, sizes = place.look(path)
        self._mend_shm(path, sizes)
        if files == self._files and sizes.ledger:
            return
        if files.ledger != self._files.ledger:
            self.notices.append(f"the ledger {path} was moved or removed: a new one is used")
        elif sizes.ledger == 0 and self._filled:
            self._set_aside("damaged", f"the ledger {path} was emptied while it was in use")
        elif all(was in (None, now) for was, now in zip(self._files, files, strict=True)):
            return
        else:
            self.notices.append(f"the log of the ledger {path} was removed while in use: {_NEWEST}")
            with suppress(sqlite3.Error):  # what it holds is still here
                if self._connection is not None and not self._read_only:
                    self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            if files.shm == self._files.shm and files.shm is not None:  # it is the old log's
                place.shm_of(path).unlink(missing_ok=True)
        self._disconnect()

    def _mend_shm(self, path: Path, sizes: place.Sizes) -> None:
        """Restore the size of the log's index if another program truncated it.

        SQLite never makes it smaller, and has it mapped: reading behind the end of the file would
        kill this process.
        """
        if sizes.shm < self._shm and self._files.shm is not None:
            place.renew_shm(path, max(self._shm, place.shm_size(sizes.wal // _PAGE)))
        self._shm = max(self._shm, sizes.shm)

    def _mend(self, error: BaseException) -> bool:
        """Set the file aside if it is damaged; return whether to try again."""
        return faults.kind_of(error) is Fault.DAMAGED and self._set_aside(
            "damaged", f"the ledger {self.path} was damaged ({error})"
        )

    def _set_aside(self, word: str, what: str) -> bool:
        """Rename the ledger and its log, unless it is read-only; return whether that was done."""
        if self.path is None or self._read_only or self._child:
            return False
        try:
            aside = place.set_aside(self.path, self._files, word)
        except OSError as failed:
            raise faults.explain(failed, self.path) from failed
        # Only now: SQLite leaves the log of a file that was renamed as it is.
        self._disconnect()
        if aside is not None:
            self.notices.append(f"{what}: it is kept as {aside.name}, and a new one began")
        return True

    # ----------------------------------------------------------------------------------------------
    # Forks

    def before_fork(self) -> None:
        """Wait, for a moment, until no thread is in a transaction."""
        self._held = self._lock.acquire(timeout=1.0)

    def after_fork(self) -> None:
        """Let the threads go on."""
        if self._held:
            self._held = False
            self._lock.release()

    def in_child(self) -> None:
        """Let go of the parent's connection; reads open one of their own, writes do nothing."""
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._busy = self._held = False
        self._child = True
        if self.path is not None and self._connection is not None:
            forks.keep_forever(self._connection)
            self._connection = None

    def _is_child(self) -> bool:
        if self._pid != os.getpid():  # a fork that Python was not told of
            self.in_child()
        return self._child
