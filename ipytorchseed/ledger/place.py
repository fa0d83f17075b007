"""Finds the path of the ledger, creates its file, and renames damaged files."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

# The environment variable with the path of another folder.
ENVIRONMENT = "IPYTORCHSEED_DATA_DIR"

NAME = "ledger.sqlite"

# The size of a block of the log's index in bytes, and the number of pages of the log that the first
# block covers (https://www.sqlite.org/walformat.html).
_BLOCK, _PAGES = 32_768, 4_062


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
            for each in (path, wal_of(path), shm_of(path)):
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
    base = str(path)
    for name in (base + "-shm", base + "-wal", base):
        try:
            status = os.stat(name)  # noqa: PTH116 -- faster, for every transaction
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
    with suppress(FileNotFoundError):  # SQLite rebuilds the index
        shm_of(path).unlink()
    return aside


def wal_of(path: Path) -> Path:
    """Return the path of a ledger's write-ahead log."""
    return path.with_name(path.name + "-wal")


def shm_of(path: Path) -> Path:
    """Return the path of the index of a ledger's log."""
    return path.with_name(path.name + "-shm")


def shm_size(pages: int) -> int:
    """Return an upper bound on the size of the index of a log with ``pages`` pages."""
    return _BLOCK * (1 + pages // _PAGES)


def renew_shm(path: Path, size: int) -> None:
    """Fill the index of a log with zeros, so that SQLite rebuilds it.

    Open descriptors and mappings of the file remain valid, in other processes too. The file is not
    opened here, because closing it would drop the locks of this process.
    """
    with suppress(OSError):
        os.truncate(shm_of(path), 0)  # including the header
        os.truncate(shm_of(path), size)
