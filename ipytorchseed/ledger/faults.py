"""Errors of SQLite and of the system as one line: what happened, and what to do.

The kind of a fault follows from SQLite's result code (https://www.sqlite.org/rescode.html) or the
system's error number, not from a message, which may contain a path.
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
    """A kind of fault: what it means for the ledger, and what to do."""

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


# Kinds of fault by the result code of SQLite.
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

# Bytes of free space below which a disk counts as full: a new ledger needs fewer.
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
    """Return SQLite's primary result code; 0 if there is none."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def explain(error: BaseException, path: Path | None) -> LedgerError:
    """Return the exception for an error of SQLite or of the system."""
    which = "the ledger in memory" if path is None else f"the ledger {path}"
    said = getattr(error, "strerror", None) or str(error) or type(error).__name__
    kind = kind_of(error)
    if path is not None and _code(error) == sqlite3.SQLITE_IOERR and _is_full(path.parent):
        kind = Fault.FULL  # SQLite does not report it for shared memory
    what, remedy = kind.value
    return LedgerError(f"{which} {what} ({said}): {remedy}")


def _is_full(folder: Path) -> bool:
    try:
        return shutil.disk_usage(folder).free < _LITTLE
    except OSError:
        return False
