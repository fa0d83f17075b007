"""Converts errors of SQLite and of the system to one line with a remedy.

Errors are recognized by SQLite's result code (https://www.sqlite.org/rescode.html) or the system's
error number. Messages are not searched, because they may contain paths.
"""

from __future__ import annotations

import errno
import shutil
import sqlite3
from enum import Enum
from pathlib import Path

from ipytorchseed.errors import LedgerError
from ipytorchseed.ledger.place import ENVIRONMENT

_ELSEWHERE = f"or name another folder in {ENVIRONMENT}"


class Fault(Enum):
    """A kind of error: what is wrong with the ledger, and a remedy."""

    BUSY = (
        "is held by another process and cannot be written now",
        f"look for a process that hangs, {_ELSEWHERE}",
    )
    FULL = (
        "cannot grow, its disk is full",
        f"free some space, drop old runs with `ipytorchseed ledger prune`, {_ELSEWHERE}",
    )
    DENIED = ("cannot be written", f"make the file and its folder writable for you, {_ELSEWHERE}")
    DAMAGED = ("is damaged", "move it away: a new one will be created")
    OTHER = ("cannot be used", f"look at its disk, {_ELSEWHERE}")


# The kinds of errors, by result code of SQLite.
_SQLITE = {
    sqlite3.SQLITE_PERM: Fault.DENIED,
    sqlite3.SQLITE_BUSY: Fault.BUSY,
    sqlite3.SQLITE_LOCKED: Fault.BUSY,
    sqlite3.SQLITE_READONLY: Fault.DENIED,
    sqlite3.SQLITE_CORRUPT: Fault.DAMAGED,
    sqlite3.SQLITE_FULL: Fault.FULL,
    sqlite3.SQLITE_CANTOPEN: Fault.DENIED,
    sqlite3.SQLITE_AUTH: Fault.DENIED,
    sqlite3.SQLITE_NOTADB: Fault.DAMAGED,
}

# A disk with less free space, in bytes, counts as full. A new ledger needs less than this.
_LITTLE = 100_000

_OF_SYSTEM = {
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), Fault.DENIED),
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), Fault.FULL),
}


def kind_of(error: BaseException) -> Fault:
    """Return the kind of an error of SQLite or of the system."""
    if isinstance(error, OSError):
        return _OF_SYSTEM.get(error.errno or 0, Fault.OTHER)
    return _SQLITE.get(_code(error), Fault.OTHER)


def _code(error: BaseException) -> int:
    """Return the primary result code of an error of SQLite, or 0 for other errors."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def explain(error: BaseException, path: Path | None) -> LedgerError:
    """Convert an error of SQLite or of the system to an exception with a remedy."""
    which = "the ledger in memory" if path is None else f"the ledger {path}"
    said = getattr(error, "strerror", None) or str(error) or type(error).__name__
    kind = kind_of(error)
    if path is not None and _code(error) == sqlite3.SQLITE_IOERR and _is_full(path.parent):
        kind = Fault.FULL  # for the shared memory, SQLite reports an I/O error instead
    what, remedy = kind.value
    return LedgerError(f"{which} {what} ({said}): {remedy}")


def _is_full(folder: Path) -> bool:
    try:
        return shutil.disk_usage(folder).free < _LITTLE
    except OSError:
        return False
