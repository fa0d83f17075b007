"""Functions that report calls which use files, programs, sockets or entropy."""

from __future__ import annotations

import _io
import os
import socket
import sqlite3
import ssl
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from random import SystemRandom
from types import ModuleType
from typing import Any, Protocol

from ipytorchseed.reads.shell import may_print_result, scripts_of
from ipytorchseed.session.connections import Connections
from ipytorchseed.session.unseeded import find_unseeded

Function = Callable[..., Any]

# Modules that list folders for their own purposes.
_LIST_FOR_THEMSELVES = (
    "_frozen_importlib", "importlib", "ipytorchseed", "IPython", "pkg_resources", "shutil",
    "tempfile",
)  # fmt: skip

_ACCESS = os.O_RDONLY | os.O_WRONLY | os.O_RDWR
_FOLDER_AT, _OUTPUT_AT = 3, 8
# Values of a program's stdout that mean that it inherits the stdout of this process.
_OURS = (-1, 1)

# The number of bytes that numpy requests to seed a generator from entropy.
_ENTROPY = 16


class Listener(Protocol):
    """An object to which calls are reported.

    Its exceptions are ignored, because the user's ``open`` would raise them.
    """

    connections: Connections

    def opens(self, path: str, *, reads: bool, writes: bool, truncates: bool) -> None:
        """Record that a file is about to be opened.

        Args:
            path: The path of the file.
            reads: Whether the file is opened for reading.
            writes: Whether the file is opened for writing.
            truncates: Whether opening the file truncates or creates it.
        """

    def opens_database(self, path: str) -> None:
        """Record that an SQLite database is about to be opened."""

    def changes(self, path: str) -> None:
        """Record that a file or folder is about to be changed, renamed or removed."""

    def makes(self, folder: str) -> None:
        """Record that a folder is about to be created."""

    def lists(self, folder: str) -> None:
        """Record that a folder is about to be listed."""

    def has_written(self, path: str) -> bool:
        """Return whether the cell has written, replaced or removed a file."""

    def runs(self, scripts: Iterable[str], folder: str = "") -> None:
        """Record that a program is about to start, with the scripts that it may run."""

    def starts(self) -> None:
        """Record that another process is about to start."""

    def prints(self) -> None:
        """Record that a program may print a result to this process's standard output."""

    def asks(self, function: str) -> None:
        """Record the function that makes numpy seed a generator from entropy.

        Args:
            function: The import name of the function; empty if unknown.
        """


def _open(listener: Listener, file: object, mode: str = "r", *_: object, **__: object) -> None:
    writes = mode not in {"r", "rb", "rt"}
    truncates = "w" in mode or "x" in mode
    listener.opens(absolute(file), reads="r" in mode, writes=writes, truncates=truncates)


def _open_descriptor(
    listener: Listener, path: object, flags: int, _: int = 0, **other: object
) -> None:
    writes, truncates = flags & _ACCESS != os.O_RDONLY, bool(flags & (os.O_TRUNC | os.O_EXCL))
    path = absolute(path, other.get("dir_fd"))
    listener.opens(path, reads=not writes, writes=writes, truncates=truncates)


def tell_write(listener: Listener, file: object) -> None:
    """Report that a file is about to be overwritten."""
    listener.opens(absolute(file), reads=False, writes=True, truncates=True)


def _open_database(
    listener: Listener, database: object, *_: object, uri: object = False, **__: object
) -> None:
    name = os.fsdecode(database) if isinstance(database, bytes) else str(database)
    if uri and name.startswith("file:"):
        name = name.removeprefix("file:").partition("?")[0]
    if name and not name.startswith(":"):  # in memory
        listener.opens_database(absolute(name))


def _change(listener: Listener, path: object, *_: object, dir_fd: object = None) -> None:
    listener.changes(absolute(path, dir_fd))


def _make_folder(listener: Listener, path: object, _: int = 0, **other: object) -> None:
    listener.makes(absolute(path, other.get("dir_fd")))


def _list(listener: Listener, path: object = ".") -> None:
    caller = sys._getframe(2).f_globals.get("__name__")  # noqa: SLF001 -- of the function above
    if not str(caller).startswith(_LIST_FOR_THEMSELVES):
        listener.lists(absolute("." if path is None else path))


def _rename(
    listener: Listener,
    src: object,
    dst: object,
    *,
    src_dir_fd: object = None,
    dst_dir_fd: object = None,
) -> None:
    listener.changes(absolute(src, src_dir_fd))
    listener.changes(absolute(dst, dst_dir_fd))


def _start(listener: Listener, words: Sequence[object], *rest: object) -> None:
    listener.starts()
    folder = rest[_FOLDER_AT] if len(rest) > _FOLDER_AT else None  # an argument of `fork_exec`
    texts = [os.fsdecode(each) for each in words if isinstance(each, str | bytes)]
    texts = " ".join(texts[2:]).split() if "-c" in texts[1:2] else texts
    listener.runs(scripts_of(texts), os.fsdecode(folder) if isinstance(folder, str | bytes) else "")
    if rest[_OUTPUT_AT] in _OURS and may_print_result(" ".join(texts)):
        listener.prints()


def _spawn(
    listener: Listener,
    _: object,
    words: Sequence[object],
    *__: object,
    file_actions: Iterable[tuple[int, ...]] = (),
    **___: object,
) -> None:
    output = [fd for action, fd, *to in file_actions if action == os.POSIX_SPAWN_DUP2 and to == [1]]
    _start(listener, words, *[None] * _OUTPUT_AT, *output, _OURS[0])


def _system(listener: Listener, command: str) -> None:
    listener.runs(scripts_of(command.split()))
    if may_print_result(command):
        listener.prints()


def _ask(listener: Listener, size: int) -> None:
    """Report that numpy seeds a generator from entropy, if ``secrets.randbits`` calls."""
    caller = sys._getframe(2)  # noqa: SLF001 -- of the function above
    maker = caller.f_back  # numpy's compiled code in between has no frame
    if size == _ENTROPY and maker and caller.f_code is SystemRandom.getrandbits.__code__:
        function = find_unseeded(maker)
        if function is not None:
            listener.asks(function)


def _resolve(listener: Listener, host: object, *_: object, **__: object) -> Function | None:
    """Return a function that reports the addresses of a host, given the result."""
    if not isinstance(host, str):
        return None
    return lambda found: listener.connections.resolves(host, {entry[4][0] for entry in found})


def _resolve_one(listener: Listener, host: str) -> Function:
    return lambda found: listener.connections.resolves(host, {found})


def _connect(listener: Listener, made: socket.socket, *given: Any) -> None:
    """Report ``connect(address)`` or ``sendto(data, address)``."""
    frame = sys._getframe(2)  # noqa: SLF001 -- of the function above
    listener.connections.connects(made.family, given[-1], frame)


def _send(listener: Listener, made: socket.socket, *_: object) -> None:
    """Report a write to a network connection, which an earlier cell may have opened."""
    if made.family in (socket.AF_INET, socket.AF_INET6):
        frame = sys._getframe(2)  # noqa: SLF001 -- as above
        listener.connections.connects(made.family, made.getpeername(), frame)


def absolute(path: object, folder: object = None) -> str:
    """Return an absolute path.

    Raises:
        TypeError: ``path`` is a file descriptor, or relative to one.
    """
    if type(path) is bytes:
        path = os.fsdecode(path)
    if type(path) is str and path[:1] == "/":
        return path
    if type(path) is not str or folder is not None:
        raise TypeError
    return str(Path(path).absolute())


def names_of(module: str) -> dict[Any, Any]:
    """Return a module's ``__dict__``; empty if ``sys.modules`` has no plain module."""
    found = sys.modules.get(module)
    return vars(found) if type(found) is ModuleType else {}


_of_system = vars(sys.modules[os.name])  # the originals, even if `os` was patched
_told: dict[str, Function] = {
    "open": _open_descriptor, "mkdir": _make_folder, "listdir": _list, "scandir": _list,
    "remove": _change, "unlink": _change, "rmdir": _change, "rename": _rename, "replace": _rename,
    "truncate": _change, "system": _system, "urandom": _ask, "posix_spawn": _spawn,
}  # fmt: skip
_calls: tuple[tuple[Function | None, Function], ...] = (
    (_io.open, _open),
    *((_of_system.get(name), tell) for name, tell in _told.items()),
    (getattr(sys.modules.get("_posixsubprocess"), "fork_exec", None), _start),
    (sqlite3.connect, _open_database),
    (socket.getaddrinfo, _resolve), (socket.gethostbyname, _resolve_one),
)  # fmt: skip
# The functions that exist in this Python, each with the function that reports its calls.
CALLS = [(original, tell) for original, tell in _calls if original is not None]

# The functions that open a file. Their first argument is the path.
OPEN = (_io.open, _of_system["open"])

# Methods of classes from which other code may derive, each with the function that reports its
# calls. Since Python 3.13, ``Path.glob`` lists folders with a method of a private class.
#
# A reporting function may return another function, which is then called with the result of the
# original function.
METHODS: list[tuple[type, str, Function]] = [
    *((socket.socket, name, _connect) for name in ("connect", "connect_ex", "sendto")),
    *(
        (made, name, _send)
        for made in (socket.socket, ssl.SSLSocket)
        for name in ("send", "sendall")
    ),
    *((made, "scandir", _list) for made in [names_of("glob").get("_StringGlobber")] if made),
]
