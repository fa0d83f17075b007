"""Records the files that a cell reads and writes, and the folders that it lists."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from functools import partial
from importlib.machinery import EXTENSION_SUFFIXES
from itertools import islice
from time import monotonic, time_ns
from typing import BinaryIO

from xxhash import xxh3_64, xxh3_64_hexdigest

from ipytorchseed.introspection.ownership import is_installed_file
from ipytorchseed.introspection.values import imported, module_names, text
from ipytorchseed.ledger import database
from ipytorchseed.ledger.records import FileRead
from ipytorchseed.reads.entropy import NUMPY_SEEDED
from ipytorchseed.session.connections import Connections
from ipytorchseed.session.importing import ImportWatch
from ipytorchseed.session.kept import LARGEST, KeptInputs
from ipytorchseed.session.named_files import Mark, mark_of

_SYSTEM = ("/proc/", "/sys/", "/dev/", "/etc/", "/usr/", "/run/")
_HIDDEN = ("/.cache/", "/.config/", "/.ipython/", "/.jupyter/", "/.local/", "/__pycache__/")
# Matches the file names of cells in ipykernel, which tracebacks try to read; histories and settings
# of programs that run inside a cell, such as the debugger; and cache folders of compilers.
_NOT_USERS = re.compile(
    r"[/\\](?:ipykernel_\d+[/\\]\d+\.py$|\.\w*(?:history|rc)$"
    r"|torchinductor_[^/\\]+[/\\]|\.triton[/\\])"
).search

# Environment variables that name other cache folders.
_COMPILED_AT = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")

# Suffixes of module files.
_CODE = (".py", ".pyc", *EXTENSION_SUFFIXES)

# The maximum number of files to record for one run.
_MOST = 1_000

# The maximum number of written files to record for one run.
_MOST_WRITTEN = 16

# The maximum number of listed folders to record for one run, and of names in one folder.
_MOST_LISTED = 32
_MOST_NAMES = 10_000

# The maximum time for digesting a file while the cell runs, in seconds.
_IN_CELL = 0.05

_CHUNK = 1 << 20

# The number of bytes to read from each end of a file if there is no time to read it whole.
_SAMPLE = 64 << 10

# The number of files to sample when no time is left. For further files, only the size is recorded.
_FEW = 32


class FileWatch:
    """The files that a cell opens, with digests of those that it read.

    Calls are reported to it while the cell runs. Exceptions that it raises are then ignored;
    otherwise, the user's ``open`` would raise them.

    Files that the cell itself created are not inputs. Files that packages open while they are
    imported are inputs only if they are in the working folder.

    Args:
        imports: Tells whether a package is being imported.
        kept: Stores the contents of small files.

    Attributes:
        connections: The connections of the cell.
        alone: Whether no other process was started, whose calls would not be observed.
    """

    def __init__(self, imports: ImportWatch | None = None, kept: KeptInputs | None = None) -> None:
        self._imports = imports or ImportWatch()
        self._kept = kept or KeptInputs(lambda: False)
        self._known: dict[str, tuple[tuple[int, ...], FileRead]] = {}
        self._since: int | None = None
        self._printing: Callable[[], object] | None = None
        self.alone = True
        self._databases: dict[str, Mark] = {}
        self._contents: dict[str, tuple[Mark, FileRead | None]] = {}
        self.connections = Connections(self._imports)
        self.clear()

    def clear(self) -> None:
        """Delete the records of the last cell."""
        self.paths: dict[str, FileRead | None] = {}
        self._made: set[str] = set()
        self._folders: tuple[str, ...] = ()
        self._written: dict[str, bool] = {}  # whether each existed before
        self._asked: set[str] = set()
        self._hears = False
        self._listed = 0
        self._find: Callable[[], dict[str, Mark]] = dict
        self._named: dict[str, Mark] = {}
        self.connections.opened.clear()

    def start(self, programs: Callable[[], object] | None = None) -> None:
        """Start recording.

        Args:
            programs: Called when the cell starts a program that may print directly; None if the
                cell runs no programs. If it runs some, all files that are written from now on count
                as created by the cell.
        """
        self._since = None if programs is None else time_ns()
        self._printing = programs
        self._hears = True
        self._databases = {path: _mark_of_database(path) for path in self._databases}
        self.connections.start()

    def opens(self, path: str, mode: str = "r") -> None:
        """Record that a file is about to be opened.

        Args:
            path: The path of the file.
            mode: The mode as for ``open``, such as ``rb``.
        """
        new = "r" in mode and path not in self.paths and len(self.paths) < _MOST
        if new and self._is_input(path):
            self.paths[path] = None
        if mode not in {"r", "rb", "rt"}:
            self.changes(path)
        if not {*mode}.isdisjoint("wx") and path not in self.paths and len(self._made) < _MOST:
            self._made.add(path)

    def opens_database(self, path: str) -> None:
        """Record a database that is about to be opened, for this cell and later ones."""
        if len(self._databases) < _MOST_LISTED:
            self._databases.setdefault(path, _mark_of_database(path))
        if path not in self.paths and len(self.paths) < _MOST:
            self.paths[path] = self._name(path, monotonic() + _IN_CELL)

    def has_written(self, path: str) -> bool:
        """Return whether the cell has written, replaced or removed a file."""
        return path in self._written

    def makes(self, folder: str) -> None:
        """Record a folder that the cell creates, so that its files are not inputs."""
        if len(self._folders) < _MOST_LISTED and not os.path.lexists(folder):
            self._folders += (f"{folder.rstrip('/')}/",)

    def lists(self, folder: str) -> None:
        """Record the names in a folder that is about to be listed."""
        path = f"{folder.rstrip('/')}/"
        known = path in self.paths or self._is_made(path) or self._imports.inside
        if not known and self._listed < _MOST_LISTED and _is_users(path):
            self._listed += 1
            self.paths[path] = None  # before `_list`, whose call may be reported too
            self.paths[path] = _list(path)

    def runs(self, scripts: Iterable[str], folder: str = "") -> None:
        """Record the scripts that a program runs, and the folders that it lists.

        Args:
            scripts: The paths. Paths of folders end with a slash. Missing files are ignored.
            folder: The folder to which the paths are relative; empty for the working folder.
        """
        for script in scripts:
            path = os.path.abspath(os.path.join(folder, os.path.expanduser(script)))  # noqa: PTH100, PTH111, PTH118
            if script[-1:] == "/" and os.path.isdir(path):  # noqa: PTH112 -- as below
                self.lists(path)
            elif os.path.isfile(path):  # noqa: PTH113 -- it is a string
                self.opens(path)

    def prints(self) -> None:
        """Report a program that may print, if the cell runs programs."""
        if self._printing is not None:
            self._printing()

    def asks(self, function: str) -> None:
        """Record the function that makes numpy seed a generator from entropy.

        Args:
            function: The import name of the function; empty if unknown.
        """
        if len(self._asked) < _MOST and not self._imports.inside:
            self._hears &= function != ""
            self._asked.add(function)

    def asked(self, may: Collection[str]) -> set[str]:
        """Return the nondeterministic functions that the cell called or may have called.

        Args:
            may: Functions that the code may call. The result includes them, except functions of
                numpy that certainly were not called.
        """
        asks = imported("secrets", "randbits")  # which numpy calls
        heard = asks is not None and imported("numpy.random.bit_generator", "randbits") is asks
        heard = heard and self._hears and self.alone and not database.forked.is_set()
        unheard = NUMPY_SEEDED - self._asked if heard else frozenset[str]()
        return (self._asked - {""}).union(may) - unheard

    def names(self, find: Callable[[], dict[str, Mark]]) -> None:
        """Record the marks of files that native code may open; see ``mark_of``.

        Call this before the cell runs.

        Args:
            find: Returns the marks of these files. It is called again after the cell, because the
                cell may create files.
        """
        self._find, self._named = find, find()

    def _is_made(self, path: str) -> bool:
        """Return whether the cell created a file or folder, or a parent folder of it."""
        return path in self._made or f"{path}/".startswith(self._folders)

    def _is_input(self, path: str) -> bool:
        """Return whether a file that is opened is an input; see ``FileWatch``."""
        if self._imports.inside and not path.startswith(f"{os.getcwd()}{os.sep}"):  # noqa: PTH109 -- it is a string
            return False
        written = self._since is not None and mark_of(path)[2:] >= (self._since,)
        return not (written or self._is_made(path))

    def changes(self, path: str) -> None:
        """Record a file that is about to be changed, and digest it if it was read."""
        if path and path not in self._written and len(self._written) < _MOST:
            self._written[path] = os.path.lexists(path) and f"{path}/" not in self._folders
        if path in self.paths and self.paths[path] is None:
            self.paths[path] = self._name(path, monotonic() + _IN_CELL)

    def read(self, seconds: float, ours: str) -> tuple[FileRead, ...]:
        """Return the records of the files that the cell read.

        Call this after the cell has ended. It also finds files that native code read or wrote.

        Args:
            seconds: The time after which files are only sampled.
            ours: The path of the ledger. Files whose paths start with it are left out.
        """
        self._compare_marks()
        users = [each for each in list(self.paths.items()) if _is_users(each[0], ours)]
        until, late, found = monotonic() + seconds, 0, []
        code = any(path.endswith(_CODE) for path, _ in users)
        loaded = [*sys.modules.values()] if code else []  # thousands
        modules = {text(module_names(each).get("__file__")) for each in loaded}
        for path, record in users:
            if path not in modules:
                late += monotonic() > until
                found.append(record or self._name(path, until, only_size=late > _FEW))
        return tuple(filter(None, found))

    def _compare_marks(self) -> None:
        """Record the files that native code may have read or written, by their marks."""
        made = {*self._made, *self._written}
        if self._named:
            self._named = dict.fromkeys(self._find(), ()) | self._named
        for path, mark in self._named.items():
            if mark != mark_of(path):
                self._written.setdefault(path, True)
            elif mark and path not in made:
                self.paths.setdefault(path, None)
        for path, mark in self._databases.items():
            now = _mark_of_database(path)
            if mark != now:
                self._written.setdefault(path, bool(mark))
            known, before = self._contents.get(path, ((), None))
            if mark != now and mark == known:  # an earlier cell opened it
                self.paths.setdefault(path, before)
            self._databases[path] = now
            if known != now:
                self._contents[path] = now, self._name(path, monotonic() + _IN_CELL)

    def written(self, ours: str) -> tuple[str, ...]:
        """Return the first paths that the cell wrote, replaced or removed.

        Files that the cell created and then removed are left out.

        Args:
            ours: The path of the ledger; see ``read``.
        """
        there = (path for path, was in self._written.items() if was or os.path.lexists(path))
        return tuple(islice((path for path in there if _is_users(path, ours)), _MOST_WRITTEN))

    def look(self, path: str, seconds: float) -> FileRead:
        """Return the record of a file or folder now; of a missing file if unreadable."""
        found = _list(path) if path[-1:] == "/" else self._name(path, monotonic() + seconds)
        return found or FileRead(path, -1, "0" * 16)

    def _name(self, path: str, until: float, *, only_size: bool = False) -> FileRead | None:
        try:
            status = os.stat(path)  # noqa: PTH116 -- it is a string
            if not stat.S_ISREG(status.st_mode):
                return None
            mark = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
            known = self._known.get(path)
            if known is not None and known[0] == mark:
                return known[1]
            if only_size:
                return FileRead(path, status.st_size, "", False, status.st_mtime_ns)  # noqa: FBT003
            with open(path, "rb") as file:  # noqa: PTH123 -- as above
                digest, exact = _digest(file, status.st_size, until)
                if exact and status.st_size <= LARGEST:
                    self._kept.add(digest, partial(_content, file))
                record = FileRead(path, status.st_size, digest, exact, status.st_mtime_ns)
            self._known[path] = (mark, record)
        except FileNotFoundError:
            return FileRead(path, -1, "0" * 16)
        except (OSError, ValueError):  # ValueError: an invalid name
            return None
        return record


def _list(folder: str) -> FileRead | None:
    """Return the record of a folder; None if it has too many names or is unreadable.

    Hidden names are not included.
    """
    with suppress(OSError), os.scandir(folder) as entries:
        names = [entry.name for entry in islice(entries, _MOST_NAMES + 1)]
        if len(names) <= _MOST_NAMES:
            seen = sorted(name for name in names if name[:1] != "." and name != "__pycache__")
            digest = xxh3_64_hexdigest("\0".join(seen).encode("utf-8", "replace"))
            return FileRead(folder, len(seen), digest)
    return None


def _content(file: BinaryIO) -> bytes | None:
    file.seek(0)
    content = file.read(LARGEST + 1)
    return None if len(content) > LARGEST else content


def _digest(file: BinaryIO, size: int, until: float) -> tuple[str, bool]:
    """Return the digest of a file's content, and True.

    If there is not enough time, return a digest of its beginning, end and size, and False.
    """
    digest = xxh3_64()
    while size <= 2 * _SAMPLE or monotonic() < until:
        chunk = file.read(_CHUNK)
        if not chunk:
            return digest.hexdigest(), True
        digest.update(chunk)
    file.seek(0)
    digest = xxh3_64(file.read(_SAMPLE))
    file.seek(-_SAMPLE, os.SEEK_END)
    digest.update(file.read(_SAMPLE))
    digest.update(str(size).encode())
    return digest.hexdigest(), False


def _mark_of_database(path: str) -> Mark:
    """Return the mark of a database and its write-ahead log."""
    return mark_of(path) + mark_of(f"{path}-wal")


def _is_users(path: str, ours: str | None = None) -> bool:
    """Return whether a file is the user's: not of the system, a package or the ledger."""
    elsewhere = [*filter(None, (ours, *map(os.environ.get, _COMPILED_AT)))]
    if path.startswith((*_SYSTEM, *elsewhere)) or path.endswith((".pyc", ".so")):
        return False
    hidden = _NOT_USERS(path) or any(part in path for part in _HIDDEN)
    return not (hidden or is_installed_file(path))
