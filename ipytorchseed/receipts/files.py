"""Opens files from elsewhere without waiting for a pipe, or taking in what has no end."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def read_file(path: Path, most: int) -> bytes:
    """Return what is in a file.

    Args:
        path: Where it is.
        most: Bytes that it may have.

    Raises:
        OSError: It cannot be read.
    """
    _refuse_special(path.stat(), most)  # before it is opened: to open a device may do something
    with open(path, "rb", opener=_open_at_once) as file:
        _refuse_special(os.fstat(file.fileno()), most)
        return file.read(most)


def say_unread(error: OSError) -> str:
    """Say in a clause why ``read_file`` could not read a file."""
    return f"it cannot be read: {error.strerror}" if error.errno else str(error.strerror)


def _open_at_once(path: str, flags: int) -> int:
    """Open a file, and do not wait for the other end where it has become a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _refuse_special(status: os.stat_result, most: int) -> None:
    """Raise an error where there is no end to read to, or none soon."""
    if stat.S_ISDIR(status.st_mode):
        reason = "it is a folder, not a file"
    elif not stat.S_ISREG(status.st_mode):
        reason = "it is a pipe or a device, not a file"
    elif status.st_size > most:
        reason = f"it is too large: {status.st_size:,} bytes, and {most:,} at most are read"
    else:
        return
    raise OSError(0, reason)
