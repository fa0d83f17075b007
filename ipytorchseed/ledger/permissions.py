"""Refuses a ledger that another user may have created or may change.

Files are checked by name before SQLite opens them by name. They cannot be replaced in between,
because the folder must be writable only by its owner, or sticky. The files are not opened here:
closing them would drop the locks of all connections in this process
(https://www.sqlite.org/howtocorrupt.html, "Posix advisory locks canceled").
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from ipytorchseed.errors import LedgerError
from ipytorchseed.ledger.place import ENVIRONMENT

# The suffixes that SQLite appends to the name of a database for additional files.
SIBLINGS = ("-wal", "-shm", "-journal")

_AWAY = f"move it away, or name another folder in {ENVIRONMENT}"


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
    for each in (path, *(path.with_name(path.name + end) for end in SIBLINGS)):
        try:
            found = each.lstat()
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(found.st_mode):
            what = _kind(found.st_mode)
            raise LedgerError(f"the ledger's file {each} is {what}, no regular file: {_AWAY}")
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


def _kind(mode: int) -> str:
    kinds = (
        (stat.S_ISLNK, "a symbolic link"),
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
    )
    return next((word for is_one, word in kinds if is_one(mode)), "a device")
