"""What can go wrong with the ledger's file, told in words: what, which file, what to do.

SQLite's codes are attributes of its exceptions only since Python 3.11, so that its texts
(https://www.sqlite.org/rescode.html, fixed since 2004) are read instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ipytorchseed.errors import LedgerError
from ipytorchseed.ledger.place import ENVIRONMENT

if TYPE_CHECKING:
    from pathlib import Path

_ELSEWHERE = f"or name another folder in {ENVIRONMENT}"

_DAMAGED = ("file is not a database", "malformed", "file is encrypted", "unsupported file format")

_REMEDIES = (
    (
        ("locked", "busy"),
        "is held by another process and cannot be written now",
        f"look for a process that hangs, {_ELSEWHERE}",
    ),
    (
        ("full", "no space"),
        "cannot grow, its disk is full",
        f"free some space, drop old runs with `ipytorchseed ledger prune`, {_ELSEWHERE}",
    ),
    (
        ("readonly", "read-only", "unable to open", "permission", "access"),
        "cannot be written",
        f"make the file and its folder writable for you, {_ELSEWHERE}",
    ),
    (
        _DAMAGED,
        "is damaged",
        "look at it with `ipytorchseed ledger verify`, or move it away: a new one is begun",
    ),
)
"""Words in SQLite's or the system's text, what it means, what to do."""


def damaged(error: BaseException) -> bool:
    """Tell whether the file's content is at fault, rather than its surroundings."""
    text = str(error).lower()
    return any(word in text for word in _DAMAGED)


def locked(error: BaseException) -> bool:
    """Tell whether another process holds the file."""
    text = str(error).lower()
    return any(word in text for word in _REMEDIES[0][0])


def explain(error: BaseException, path: Path | None) -> LedgerError:
    """Return what to raise for an error of SQLite or of the system."""
    which = "the ledger in memory" if path is None else f"the ledger {path}"
    said = getattr(error, "strerror", None) or str(error) or type(error).__name__
    text = said.lower()
    for words, what, remedy in _REMEDIES:
        if any(word in text for word in words):
            return LedgerError(f"{which} {what} ({said}): {remedy}")
    return LedgerError(f"{which} cannot be used ({said}): look at its disk, {_ELSEWHERE}")
