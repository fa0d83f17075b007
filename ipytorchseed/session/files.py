"""The files that a cell reads and writes, told by Python's audit hook for ``open``."""

from __future__ import annotations

import os
import re
import stat
import sys
from itertools import islice
from pathlib import Path
from time import monotonic
from types import ModuleType
from typing import TYPE_CHECKING, Any

from xxhash import xxh3_64

from ipytorchseed.introspection.ownership import is_installed_file
from ipytorchseed.ledger.records import FileRead

if TYPE_CHECKING:
    from typing import BinaryIO

_SYSTEM = ("/proc/", "/sys/", "/dev/", "/etc/", "/usr/", "/run/")
_HIDDEN = ("/.cache/", "/.config/", "/.ipython/", "/.jupyter/", "/.local/", "/__pycache__/")
_CELLS = re.compile(r"[/\\]ipykernel_\d+[/\\]\d+\.py$").search
"""Tells the names that kernels give to the code of cells: tracebacks look for it there."""

_MOST = 1_000
"""Files noted of one run."""

_MOST_WRITTEN = 16
"""Files noted of one run that it wrote."""

_TOLD = frozenset({"open", "os.remove", "os.rename", "os.truncate"})
"""Events of the interpreter that are listened to."""

_IN_CELL = 0.05
"""Seconds for a file that the cell reads and then replaces."""

_CHUNK = 1 << 20
_ACCESS = os.O_RDONLY | os.O_WRONLY | os.O_RDWR
_SAMPLE = 64 << 10
"""Bytes read from the beginning and the end of a file for which the budget does not suffice."""

_FEW = 32
"""Files read at least so when no time is left; of more, only the size is noted."""

_watching: FileWatch | None = None
_hooked = False


class FileWatch:
    """Notes paths opened while it watches, and names the content of those read afterwards."""

    def __init__(self) -> None:
        self.paths: dict[str, FileRead | None] = {}
        self._written: dict[str, None] = {}
        self._known: dict[str, tuple[tuple[int, ...], FileRead]] = {}

    def start(self) -> None:
        """Begin to note; from now on every ``open`` of this process costs an instant more."""
        global _watching, _hooked  # noqa: PLW0603 -- an audit hook is the process's, for good
        self.paths.clear()
        self._written.clear()
        if not _hooked:
            sys.addaudithook(_hook)
            _hooked = True
        _watching = self

    def stop(self) -> None:
        """Stop noting."""
        global _watching  # noqa: PLW0603 -- as above
        if _watching is self:
            _watching = None

    def changes(self, path: str) -> None:
        """Note a file that the cell is about to replace, and name its content if it was read."""
        if path and len(self._written) < _MOST:
            self._written[path] = None
        if path in self.paths and self.paths[path] is None:
            self.paths[path] = self._name(path, monotonic() + _IN_CELL)

    def read(self, seconds: float, ours: str) -> tuple[FileRead, ...]:
        """Name the content of the noted files.

        Args:
            seconds: Time to spend; files are sampled after it.
            ours: The ledger, which is not the user's; so are files whose names begin so.
        """
        if not self.paths:
            return ()
        until = monotonic() + seconds
        late = 0
        modules = set(map(_file_of, list(sys.modules.values())))
        found = []
        for path, record in list(self.paths.items()):
            if path.startswith(ours) or path in modules or _is_not_the_users(path):
                continue
            late += monotonic() > until
            named = record or self._name(path, until, only_size=late > _FEW)
            if named is not None:
                found.append(named)
        return tuple(found)

    def written(self, ours: str) -> tuple[str, ...]:
        """Return the paths of the files that were written, replaced or removed, the first few.

        Args:
            ours: The ledger, as for ``read``.
        """
        users = (
            path
            for path in self._written
            if not path.startswith(ours) and not _is_not_the_users(path)
        )
        return tuple(islice(users, _MOST_WRITTEN))

    def look(self, path: str, seconds: float) -> FileRead:
        """Name the content of a file now; of one that is gone or cannot be read, its absence."""
        found = self._name(path, monotonic() + seconds)
        return found or FileRead(path, -1, "0" * 16)

    def _name(self, path: str, until: float, *, only_size: bool = False) -> FileRead | None:
        try:
            status = os.stat(path)  # noqa: PTH116 -- a string is what is at hand
            if not stat.S_ISREG(status.st_mode):
                return None
            mark = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
            known = self._known.get(path)
            if known is not None and known[0] == mark:
                return known[1]
            if only_size:
                return FileRead(path, status.st_size, "", False, status.st_mtime_ns)  # noqa: FBT003
            with open(path, "rb") as file:  # noqa: PTH123 -- as above
                digest = _digest_all(file, status.st_size, until)
                exact = digest is not None
                digest = digest or _digest_ends(file, status.st_size)
                record = FileRead(path, status.st_size, digest, exact, status.st_mtime_ns)
            self._known[path] = (mark, record)
        except FileNotFoundError:
            return FileRead(path, -1, "0" * 16)
        except (OSError, ValueError):  # ValueError: a name that no file can have
            return None
        return record


def _digest_all(file: BinaryIO, size: int, until: float) -> str | None:
    """Name a file's content, or return None where that would take too long."""
    digest = xxh3_64()
    while size <= 2 * _SAMPLE or monotonic() < until:
        chunk = file.read(_CHUNK)
        if not chunk:
            return digest.hexdigest()
        digest.update(chunk)
    return None


def _digest_ends(file: BinaryIO, size: int) -> str:
    """Name a large file by its beginning, its end and its size."""
    file.seek(0)
    digest = xxh3_64(file.read(_SAMPLE))
    file.seek(-_SAMPLE, os.SEEK_END)
    digest.update(file.read(_SAMPLE))
    digest.update(str(size).encode())
    return digest.hexdigest()


def _file_of(module: object) -> object:
    """Return a module's file, or None; what else lies in ``sys.modules`` is not asked."""
    if type(module) is not ModuleType:
        return None
    file = vars(module).get("__file__")
    return file if type(file) is str else None


def _is_not_the_users(path: str) -> bool:
    if path.startswith(_SYSTEM) or is_installed_file(path):
        return True
    if any(part in path for part in _HIDDEN) or path.endswith((".pyc", ".so")):
        return True
    return _CELLS(path) is not None


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    watch = _watching
    if watch is None or event not in _TOLD:
        return
    try:
        if event == "open":
            path, mode, flags = arguments
            if type(mode) is str:
                reads, writes = "r" in mode, mode not in ("r", "rb", "rt")
            else:
                writes = flags & _ACCESS != os.O_RDONLY
                reads = not writes
            path = _absolute(path)
            if reads and path and len(watch.paths) < _MOST:
                watch.paths.setdefault(path)
            if writes:
                watch.changes(path)
        else:  # the first of both paths of a rename, or the only one
            watch.changes(_absolute(arguments[0]))
            if event == "os.rename":
                watch.changes(_absolute(arguments[1]))
    except Exception:  # noqa: BLE001 -- an error here would become that of the user's `open`
        return


def _absolute(path: object) -> str:
    """Return an absolute path; empty for the number of a file that is open already."""
    if type(path) is bytes:
        path = os.fsdecode(path)
    if type(path) is not str:
        return ""
    return path if path[:1] == "/" else str(Path(path).absolute())
