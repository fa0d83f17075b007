"""Finds the ledger; creates, checks and renames its files.

A ledger that another user may have created or may change is refused. Files are checked by name
before SQLite opens them by name. They cannot be replaced in between, because the folder must be
writable only by its owner, or sticky. The files are not opened here: closing them would drop the
locks of all connections in this process (https://www.sqlite.org/howtocorrupt.html, "Posix advisory
locks canceled").
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import time
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from ipytorchseed.errors import LedgerError

# The environment variable with the path of another folder.
ENVIRONMENT = "IPYTORCHSEED_DATA_DIR"

NAME = "ledger.sqlite"

# The size of a block of the log's index in bytes, and the number of pages of the log that the first
# block covers (https://www.sqlite.org/walformat.html).
_BLOCK, _PAGES = 32_768, 4_062

# The suffixes that SQLite appends to the name of a database for additional files.
SIBLINGS = ("-wal", "-shm", "-journal")

_AWAY = f"move it away, or name another folder in {ENVIRONMENT}"


def ledger_path() -> Path:
    """Return the absolute path of the ledger, whether it exists or not."""
    named = os.environ.get(ENVIRONMENT)
    if named:
        folder = Path(named).expanduser()
    else:
        from platformdirs import user_data_path

        folder = user_data_path("ipytorchseed", appauthor=False)
    return Path(os.path.abspath(folder / NAME))  # noqa: PTH100 -- resolve() follows links


def prepare(path: Path) -> bool:
    """Create the file of the ledger if it is missing, and make it private.

    The permissions of an existing folder are not changed: it may be shared for other purposes.

    Args:
        path: The path, already checked by ``refuse_unsafe``.

    Returns:
        Whether an empty file was created.

    Raises:
        OSError: The folder or the file cannot be created.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):  # another process has just created it
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            return True
        return False
    if mode & 0o077:
        with suppress(OSError):  # another user owns it, or the file system has no permissions
            path.chmod(0o600)
    return False


def remove_empty(path: Path) -> None:
    """Remove the files of a ledger if the ledger is still empty."""
    with suppress(OSError):
        if path.stat().st_size == 0:
            for each in (path, sibling(path, "-wal"), sibling(path, "-shm")):
                each.unlink(missing_ok=True)


class Files(NamedTuple):
    """The identities of the ledger's files: device and inode, or None if missing.

    Attributes:
        ledger: The database.
        wal: SQLite's write-ahead log.
        shm: The index of the log, which processes share as memory.
    """

    ledger: tuple[int, int] | None
    wal: tuple[int, int] | None
    shm: tuple[int, int] | None


class Sizes(NamedTuple):
    """The sizes of the ledger's files in bytes; 0 if missing. See ``Files``."""

    ledger: int
    wal: int
    shm: int


def look(path: Path) -> tuple[Files, Sizes]:
    """Return the identities and sizes of a ledger's files.

    SQLite creates the log before the index, and removes it after the index. So an index without a
    log means that another program has removed the log.
    """
    found: list[tuple[tuple[int, int] | None, int]] = []
    for end in ("-shm", "-wal", ""):
        try:
            status = os.stat(f"{path}{end}")  # noqa: PTH116 -- faster, for every transaction
            found.append(((status.st_dev, status.st_ino), status.st_size))
        except OSError:
            found.append((None, 0))
    (shm, shm_size), (wal, wal_size), (ledger, size) = found
    return Files(ledger, wal, shm), Sizes(size, wal_size, shm_size)


def rename_damaged(path: Path, files: Files, word: str) -> Path | None:
    """Rename a ledger and its log, without overwriting other files.

    The log may contain the last runs.

    Args:
        path: The path of the ledger.
        files: The expected files. If ``path`` is now a different ledger, it is not renamed.
        word: The reason, which becomes part of the new name, such as ``damaged``.

    Returns:
        The new path, or None if ``path`` is now a different ledger.

    Raises:
        OSError: A file cannot be renamed.
    """
    now, sizes = look(path)
    if now.ledger != files.ledger:
        return None
    stem = f"{path.stem}.{word}-{time.strftime('%Y%m%dT%H%M%S')}"
    aside, number = path.with_name(stem + path.suffix), 1
    while aside.exists() or sibling(aside, "-wal").exists():
        number += 1
        aside = path.with_name(f"{stem}-{number}{path.suffix}")
    with suppress(FileNotFoundError):
        path.rename(aside)
    with suppress(FileNotFoundError):
        if sizes.wal:
            sibling(path, "-wal").rename(sibling(aside, "-wal"))
        else:
            sibling(path, "-wal").unlink()
    sibling(path, "-shm").unlink(missing_ok=True)  # SQLite rebuilds the index
    return aside


def sibling(path: Path, end: str) -> Path:
    """Return the path of a ledger's log (``-wal``) or its index (``-shm``)."""
    return path.with_name(path.name + end)


def renew_shm(path: Path, size: int, pages: int) -> None:
    """Fill the index of a log with zeros, so that SQLite rebuilds it.

    Open descriptors and mappings of the file remain valid, in other processes too. The file is not
    opened here, because closing it would drop the locks of this process.

    Args:
        path: The path of the ledger.
        size: The least size of the index.
        pages: The number of pages in the log.
    """
    with suppress(OSError):
        os.truncate(sibling(path, "-shm"), 0)  # including the header
        os.truncate(sibling(path, "-shm"), max(size, _BLOCK * (1 + pages // _PAGES)))


def refuse_unsafe(path: Path) -> None:
    """Raise an error if the files or the folder of a ledger are not safe to use.

    Files must be regular files, belong to this user, and not be writable by other users. The folder
    must belong to this user or to root. It must not be writable by other users unless it is sticky.
    On Windows, only the type of the files is checked.

    Args:
        path: The path of the ledger, which need not exist.

    Raises:
        LedgerError: A file or the folder is not safe. The message says why, and what to do.
        OSError: A file or the folder cannot be checked.
    """
    _check_folder(path.parent)
    for each in (path, *(sibling(path, end) for end in SIBLINGS)):
        try:
            found = each.lstat()
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(found.st_mode):
            what = "symbolic link" if stat.S_ISLNK(found.st_mode) else "folder, pipe or device"
            raise LedgerError(f"the ledger's file {each} is a {what}, not a regular file: {_AWAY}")
        if _is_foreign(found):
            raise LedgerError(f"the ledger's file {each} belongs to another user: {_AWAY}")
        if _is_writable_by_others(found):
            raise LedgerError(
                f"the ledger's file {each} can be written by other users: {_AWAY};"
                " if you trust what it holds, `chmod 600` it"
            )


def _check_folder(folder: Path) -> None:
    try:
        link, found = folder.lstat(), folder.stat()
    except FileNotFoundError:
        return
    for each in (link, found):
        if each.st_uid != 0 and _is_foreign(each):
            raise LedgerError(f"the ledger's folder {folder} belongs to another user: {_AWAY}")
    shared = _is_writable_by_others(found) and not found.st_mode & stat.S_ISVTX
    if shared and stat.S_ISDIR(found.st_mode):  # anything else is reported later
        raise LedgerError(
            f"the ledger's folder {folder} can be written by other users: `chmod go-w` it,"
            f" or name another folder in {ENVIRONMENT}"
        )


def _is_foreign(found: os.stat_result) -> bool:
    return hasattr(os, "geteuid") and found.st_uid != os.geteuid()


def _is_writable_by_others(found: os.stat_result) -> bool:
    if not hasattr(os, "geteuid"):  # Windows, where these bits mean nothing
        return False
    if found.st_mode & stat.S_IWOTH:
        return True
    return bool(found.st_mode & stat.S_IWGRP) and not _is_private(found.st_gid)


def _is_private(group: int) -> bool:
    """Return whether this user is the only known member of a group.

    On systems with private groups, new files are often writable for the group.
    """
    import grp
    import pwd

    accounts = pwd.getpwall()
    members = {each.pw_name for each in accounts if each.pw_gid == group}
    with suppress(KeyError):  # a group without a name
        members.update(grp.getgrgid(group).gr_mem)
    return members <= {each.pw_name for each in accounts if each.pw_uid == os.geteuid()}


# --------------------------------------------------------------------------------------------------
# Errors. They are recognized by SQLite's result code (https://www.sqlite.org/rescode.html) or the
# system's error number. Messages are not searched, because they may contain paths.

_ELSEWHERE = f"or name another folder in {ENVIRONMENT}"


class Fault(Enum):
    """A kind of error: what is wrong with the ledger, and a remedy."""

    BUSY = (
        "is held by another process and cannot be written now",
        f"look for a process that hangs, {_ELSEWHERE}",
    )
    FULL = (
        "cannot grow because its disk is full",
        f"free some space, drop old runs with `ipytorchseed ledger prune`, {_ELSEWHERE}",
    )
    DENIED = ("cannot be written", f"make the file and its folder writable for you, {_ELSEWHERE}")
    DAMAGED = ("is damaged", "move it away: a new one will be created")
    OTHER = ("cannot be used", f"look at its disk, {_ELSEWHERE}")


# The kinds of errors, by the names of their codes: those of SQLite, and of the system.
_CODES = {
    Fault.BUSY: ("BUSY", "LOCKED"),
    Fault.FULL: ("FULL", "ENOSPC", "EDQUOT"),
    Fault.DENIED: ("PERM", "READONLY", "CANTOPEN", "EACCES", "EPERM", "EROFS"),
    Fault.DAMAGED: ("CORRUPT", "NOTADB"),
}

# A disk with less free space, in bytes, counts as full. A new ledger needs less than this.
_LITTLE = 100_000


def kind_of(error: BaseException) -> Fault:
    """Return the kind of an error of SQLite or of the system."""
    name = f"{getattr(error, 'sqlite_errorname', '')}_".split("_")[1]  # without an extension
    if isinstance(error, OSError):
        name = errno.errorcode.get(error.errno or 0, "")
    return next((kind for kind, names in _CODES.items() if name in names), Fault.OTHER)


def explain(error: BaseException, path: Path | None) -> LedgerError:
    """Convert an error of SQLite or of the system to an exception with a remedy."""
    which = "the ledger in memory" if path is None else f"the ledger {path}"
    said = getattr(error, "strerror", None) or str(error) or type(error).__name__
    kind = kind_of(error)
    if kind is Fault.OTHER and path is not None and path.parent.is_dir():
        free = shutil.disk_usage(path.parent).free  # SQLite may report an I/O error if it is full
        kind = Fault.FULL if free < _LITTLE else kind
    what, remedy = kind.value
    return LedgerError(f"{which} {what} ({said}): {remedy}")
