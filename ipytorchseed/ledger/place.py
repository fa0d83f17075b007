"""Where the ledger lies, who may read it, and how a damaged one is set aside."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

ENVIRONMENT = "IPYTORCHSEED_DATA_DIR"
"""The environment variable that names another folder."""

NAME = "ledger.sqlite"

_BLOCK, _PAGES = 32_768, 4_062
"""Bytes of a block of the log's index, and how many pages of the log the first one tells of
(https://www.sqlite.org/walformat.html)."""


def ledger_path() -> Path:
    """Return where the ledger lies, whether it exists or not: an absolute path."""
    named = os.environ.get(ENVIRONMENT)
    if named:
        folder = Path(named).expanduser()
    else:
        from platformdirs import user_data_path

        folder = user_data_path("ipytorchseed", appauthor=False)
    return Path(os.path.abspath(folder / NAME))  # noqa: PTH100 -- resolve() follows links


def prepare(path: Path) -> bool:
    """Make sure that there is a file at ``path`` that only the user can read.

    An existing folder keeps its permissions: it may be shared for other reasons.

    Args:
        path: Where ``refuse_unsafe`` found nothing wrong.

    Returns:
        Whether the file was created now, empty.

    Raises:
        OSError: The folder or the file cannot be made.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):  # another process was first
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            return True
        return False
    if mode & 0o077:
        with suppress(OSError):  # somebody else's, or a file system without rights
            path.chmod(0o600)
    return False


def remove_empty(path: Path) -> None:
    """Remove a ledger that is still empty, and SQLite's files beside it."""
    with suppress(OSError):
        if path.stat().st_size == 0:
            for each in (path, wal_of(path), shm_of(path)):
                each.unlink(missing_ok=True)


class Files(NamedTuple):
    """The identities of the ledger's file and of SQLite's files beside it.

    Attributes:
        ledger: Device and inode of the ledger; None where there is none.
        wal: The same of SQLite's log.
        shm: The same of the shared memory in which SQLite finds what is in the log.
    """

    ledger: tuple[int, int] | None
    wal: tuple[int, int] | None
    shm: tuple[int, int] | None


class Sizes(NamedTuple):
    """The sizes of these files in bytes; 0 where there is none."""

    ledger: int
    wal: int
    shm: int


def look(path: Path) -> tuple[Files, Sizes]:
    """Return the identities and sizes of a ledger's files.

    SQLite creates the log before its index and removes it after that: an index without a log means
    that somebody else removed the log.
    """
    found: list[tuple[tuple[int, int] | None, int]] = []
    base = str(path)
    for name in (base + "-shm", base + "-wal", base):
        try:
            status = os.stat(name)  # noqa: PTH116 -- for every transaction: strings are at hand
            found.append(((status.st_dev, status.st_ino), status.st_size))
        except OSError:
            found.append((None, 0))
    (shm, shm_size), (wal, wal_size), (ledger, size) = found
    return Files(ledger, wal, shm), Sizes(size, wal_size, shm_size)


def set_aside(path: Path, files: Files, word: str) -> Path | None:
    """Rename a ledger, and its log, which may hold the last runs; nothing is overwritten.

    Args:
        path: Where the ledger lies.
        files: Those that are meant; another ledger at ``path`` by now is left alone.
        word: What it is from now on, such as ``damaged``.

    Returns:
        The new name, or None where there was nothing to set aside.

    Raises:
        OSError: It cannot be renamed.
    """
    now, sizes = look(path)
    if now.ledger != files.ledger:
        return None
    stem = f"{path.stem}.{word}-{time.strftime('%Y%m%dT%H%M%S')}"
    aside, number = path.with_name(stem + path.suffix), 1
    while aside.exists() or wal_of(aside).exists():
        number += 1
        aside = path.with_name(f"{stem}-{number}{path.suffix}")
    with suppress(FileNotFoundError):
        path.rename(aside)
    with suppress(FileNotFoundError):
        if sizes.wal:
            wal_of(path).rename(wal_of(aside))
        else:
            wal_of(path).unlink()
    with suppress(FileNotFoundError):  # SQLite makes it again
        shm_of(path).unlink()
    return aside


def wal_of(path: Path) -> Path:
    """Return where SQLite's log of a ledger lies."""
    return path.with_name(path.name + "-wal")


def shm_of(path: Path) -> Path:
    """Return where SQLite's index of that log lies, which processes share as memory."""
    return path.with_name(path.name + "-shm")


def shm_size(pages: int) -> int:
    """Return the bytes of an index of a log of so many pages, or somewhat more."""
    return _BLOCK * (1 + pages // _PAGES)


def renew_shm(path: Path, size: int) -> None:
    """Fill the index of a log with zeros, so that SQLite rebuilds it.

    Descriptors of the file and memory mapped from it stay valid, in other processes as well. The
    file is not opened here: closing it would drop the locks of this process.
    """
    with suppress(OSError):
        os.truncate(shm_of(path), 0)  # its header too
        os.truncate(shm_of(path), size)
