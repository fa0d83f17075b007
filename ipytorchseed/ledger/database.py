"""The one connection to the ledger's file: threads, forks, other processes and damage."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

from ipytorchseed.errors import LedgerError
from ipytorchseed.ledger import faults, inherited, migrations, permissions, place, tail
from ipytorchseed.ledger.faults import Fault
from ipytorchseed.ledger.tail import Tail

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

T = TypeVar("T")

PATIENCE = 2.0
"""Seconds to wait for another process, before giving up the first time."""

_HURRY = 0.05
"""Seconds to wait after that, until one wait has succeeded: no cell after cell that hangs."""

_PRAGMAS = (
    "page_size = 8192",  # three states of a Mersenne Twister to a page; with 4096 it is one
    "auto_vacuum = INCREMENTAL",  # what is pruned can be given back; must precede the first table
    "journal_mode = WAL",  # readers and one writer side by side; a commit is one append
    "synchronous = NORMAL",  # durable against a killed process without waiting for the disk
    "journal_size_limit = 8388608",  # what the log shrinks to after a large transaction
    "temp_store = MEMORY",
)


class Database:
    """Runs functions inside transactions; what SQLite raises becomes a ``LedgerError``.

    Args:
        path: The file; None keeps everything in memory.
        forget: Called when what is remembered of the content may no longer be true: another
            process has written, a transaction was taken back, or the file is another one.
        read_only: Neither makes the file nor writes to it nor sets it aside.
        mends: Whether a damaged file is set aside.
        patience: Seconds to wait for other processes.

    Attributes:
        settle: Called before each reading: puts into the tables what is kept and not yet there.
        tail: Where such is kept; None where there can be none.

    Raises:
        LedgerError: It cannot be opened.
    """

    def __init__(
        self,
        path: Path | None,
        forget: Callable[[], None],
        *,
        read_only: bool = False,
        mends: bool = True,
        patience: float = PATIENCE,
    ) -> None:
        self.path = path
        self.tail = None if path is None or read_only or not tail.possible() else Tail(path)
        self.settle: Callable[[], object] = bool  # nothing
        self.notices: list[str] = []
        self.child = False
        self._forget = forget
        self._read_only = read_only
        self._mends = mends and not read_only
        self._patience = patience
        self._waits = patience
        self._identity: place.Identity | None = None
        self._version = -1
        self._held = self._busy = self._closed = False
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._connection = self._open()
        inherited.register(self)

    def write(self, do: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """Run ``do`` in a transaction of its own; returning means that it outlives this process.

        Args:
            do: Reads and writes. It may be run twice: a damaged file is set aside, and it is then
                run on the new one.
            otherwise: What a forked child gets, where nothing is done.

        Raises:
            LedgerError: It failed; nothing of it is kept.
        """
        return otherwise if self._in_child() else self._run(self._transact, do)

    def read(self, do: Callable[[sqlite3.Connection], T]) -> T:
        """Run ``do``, which only reads, on the content of one moment.

        Raises:
            LedgerError: It failed.
        """
        if not self._in_child():
            self.settle()
        return self._run(self._look, do)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other threads from writing, also between two transactions."""
        with self._lock:
            yield

    def note(self, record: bytes) -> bool:
        """Append to the tail; returning True means that it outlives this process."""
        if self._in_child() or self.tail is None:
            return False
        with self._lock:
            self._refuse_closed()
            try:
                self.tail.append(record)
            except OSError:  # whether the ledger itself can be written, `write` finds out
                return False
        return True

    def apart(self, do: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """Run ``do`` outside a transaction, for statements that demand it; else as ``write``."""
        return otherwise if self._in_child() else self._run(lambda do: do(self._ready()), do)

    def close(self) -> None:
        """Give the file back; may be called again."""
        self._in_child()
        with self._lock:
            self._closed = True
            self._disconnect()
            if self.tail is not None:
                self.tail.close()

    # ----------------------------------------------------------------------------------------------
    # Transactions

    def _run(
        self, attempt: Callable[[Callable[[sqlite3.Connection], T]], T],
        do: Callable[[sqlite3.Connection], T],
    ) -> T:  # fmt: skip
        with self._lock:
            self._refuse_closed()
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

    def _refuse_closed(self) -> None:
        if self._closed or self._busy:  # busy: this very thread is inside, by way of __del__
            how = "is closed" if self._closed else "is being used by this thread"
            msg = f"the ledger {self.path or 'in memory'} {how}: nothing was done"
            raise LedgerError(msg)

    def _transact(self, do: Callable[[sqlite3.Connection], T]) -> T:
        if (
            self.path is not None
            and self._connection is not None
            and place.identify(self.path) != self._identity
        ):
            self._disconnect()
            self.notices.append(f"the ledger {self.path} was moved or removed: a new one is used")
        connection = self._ready()
        try:
            connection.execute("BEGIN IMMEDIATE")
            (version,) = connection.execute("PRAGMA data_version").fetchone()
            if version != self._version:  # another process has written since
                self._version = version
                self._forget()
            result = do(connection)
            connection.execute("COMMIT")
        except BaseException as error:
            self._forget()
            with suppress(sqlite3.Error):
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error) and faults.kind_of(error) is Fault.BUSY:
                self._wait(connection, min(_HURRY, self._patience))
            raise
        if self._waits != self._patience:
            self._wait(connection, self._patience)
        return result

    def _look(self, do: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._ready()
        connection.execute("BEGIN")
        try:
            return do(connection)
        finally:
            with suppress(sqlite3.Error):
                connection.execute("COMMIT")

    def _ready(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = self._open()
        elif self._connection.in_transaction:  # an interrupt came between two of our lines
            self._forget()
            self._connection.execute("ROLLBACK")
        return self._connection

    def _wait(self, connection: sqlite3.Connection, seconds: float) -> None:
        self._waits = seconds
        with suppress(sqlite3.Error):
            connection.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")

    # ----------------------------------------------------------------------------------------------
    # Opening, and what to do where that fails

    def _open(self) -> sqlite3.Connection:
        deadline = time.monotonic() + self._patience
        while True:
            try:
                return self._connect()
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
                    raise faults.explain(error, self.path) from error

    def _connect(self) -> sqlite3.Connection:
        self._forget()
        self._version = -1
        if self.path is None:
            connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            migrations.migrate(connection, None)
            return connection
        permissions.refuse_unsafe(self.path)
        reading = self._read_only or self.child
        if not reading:
            self._set_aside_orphan(self.path)
            place.prepare(self.path)
        elif not self.path.exists():
            msg = f"there is no ledger at {self.path} yet"
            raise LedgerError(msg)
        self._identity = place.identify(self.path)
        migrations.refuse_newer(self.path)
        # Closing the last connection takes the log away, unless it is one that cannot write.
        looking = self.child or (self._read_only and place.has_log(self.path))
        self._connection = connection = sqlite3.connect(
            f"{self.path.as_uri()}?mode={'ro' if looking else 'rw'}",
            uri=True,  # not to be made by SQLite, with rights for all
            timeout=self._patience,
            isolation_level=None,  # transactions begin and end where we say
            check_same_thread=False,  # the lock sees to it
        )
        migrations.version_of(connection, self.path)
        if reading:
            connection.execute("PRAGMA query_only = ON")
        else:
            for pragma in _PRAGMAS:
                connection.execute(f"PRAGMA {pragma}").fetchall()
            migrations.migrate(connection, self.path)
        permissions.refuse_unsafe(self.path)  # also what SQLite and others made meanwhile
        return connection

    def _mend(self, error: BaseException) -> bool:
        """Set the file aside if its content is at fault; return whether to try again."""
        if (
            self.path is None
            or not self._mends
            or self.child
            or faults.kind_of(error) is not Fault.DAMAGED
        ):
            return False
        try:
            aside = place.set_aside(self.path, self._identity)
        except OSError as failed:
            raise faults.explain(failed, self.path) from error
        # Only now: SQLite leaves the log of a file that was renamed as it is.
        self._disconnect()
        if aside is not None:
            self.notices.append(
                f"the ledger {self.path} was damaged ({error}): "
                f"it is kept as {aside.name}, and a new one began"
            )
        return True

    def _set_aside_orphan(self, path: Path) -> None:
        if place.orphaned(path) and (aside := place.set_aside(path, place.identify(path))):
            self.notices.append(
                f"the ledger {path} was empty or gone, and its log was not: "
                f"it is kept as {aside.name}-wal, and a new one began"
            )

    def _disconnect(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            with suppress(sqlite3.Error):
                connection.close()
        self._forget()

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

    def inherit(self) -> None:
        """Let go of the parent's connection; reads open one of their own, writes do nothing."""
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._busy = self._held = False
        self.child = True
        if self.tail is not None:
            self.tail.leave()
        if self.path is not None and self._connection is not None:
            inherited.keep_forever(self._connection)
            self._connection = None

    def _in_child(self) -> bool:
        if self._pid != os.getpid():  # a fork that Python was not told of
            self.inherit()
        return self.child
