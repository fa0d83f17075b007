"""Where the ledger lies, who may read it, and how a damaged one is set aside."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

ENVIRONMENT = "IPYTORCHSEED_DATA_DIR"
"""The environment variable that names another folder."""

NAME = "ledger.sqlite"

Identity = tuple[int, int]
"""Device and inode: which file a path named when it was opened."""


def ledger_path() -> Path:
    """Return where the ledger lies, whether it exists or not: an absolute path."""
    named = os.environ.get(ENVIRONMENT)
    if named:
        folder = Path(named).expanduser()
    else:
        from platformdirs import user_data_path

        folder = user_data_path("ipytorchseed", appauthor=False)
    return Path(os.path.abspath(folder / NAME))  # noqa: PTH100 -- resolve() follows links


def prepare(path: Path) -> None:
    """Make sure that there is a file at ``path`` that the user alone can read.

    A folder that was there keeps its rights: it may be shared for other reasons.

    Args:
        path: Where ``refuse_unsafe`` found nothing wrong.

    Raises:
        OSError: The folder or the file cannot be made.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):  # another process was first
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        return
    if mode & 0o077:
        with suppress(OSError):  # somebody else's, or a file system without rights
            path.chmod(0o600)


def identify(path: Path) -> Identity | None:
    """Return which file ``path`` names now, or None where there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 -- in every write: half the price of path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def orphaned(path: Path) -> bool:
    """Tell whether a log of SQLite lies here without its file, which SQLite would delete."""
    try:
        return path.stat().st_size == 0 and has_log(path)
    except OSError:
        return has_log(path)


def has_log(path: Path) -> bool:
    """Tell whether SQLite keeps a log beside the file: it is open, or its process was killed."""
    try:
        return _log(path).stat().st_size > 0
    except OSError:
        return False


def set_aside(path: Path, identity: Identity | None) -> Path | None:
    """Rename a damaged ledger, and its log, which may hold the last runs; nothing is overwritten.

    Args:
        path: Where the ledger lies.
        identity: The file that is damaged; another one at ``path`` by now is left alone.

    Returns:
        The new name, or None where there was nothing to set aside.

    Raises:
        OSError: It cannot be renamed.
    """
    if identify(path) != identity:
        return None
    stem = f"{path.stem}.damaged-{time.strftime('%Y%m%dT%H%M%S')}"
    aside, number = path.with_name(stem + path.suffix), 1
    while aside.exists() or _log(aside).exists():
        number += 1
        aside = path.with_name(f"{stem}-{number}{path.suffix}")
    logged = has_log(path)
    with suppress(FileNotFoundError):
        path.rename(aside)
    with suppress(FileNotFoundError):
        if logged:
            _log(path).rename(_log(aside))
        else:
            _log(path).unlink()
    with suppress(FileNotFoundError):  # an index of the log, which SQLite makes anew
        path.with_name(path.name + "-shm").unlink()
    return aside


def _log(path: Path) -> Path:
    return path.with_name(path.name + "-wal")
