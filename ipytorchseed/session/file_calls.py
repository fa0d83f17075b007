"""Reports calls that use files, programs, sockets or entropy to a ``FileWatch``."""

from __future__ import annotations

import _io
import glob
import inspect
import linecache
import os
import socket
import sqlite3
import ssl
import sys
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from random import SystemRandom
from types import FrameType
from typing import Any

from ipytorchseed.introspection.ownership import is_installed_file
from ipytorchseed.introspection.values import imported, is_scalar
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.shell import may_print_result, scripts_of
from ipytorchseed.session.files import FileWatch

# Finds calls in a line of code that take a seed, and the argument if it is a name or number.
_SEEDING_CALLS = lazy_pattern(
    r"\b(default_rng|RandomState|SeedSequence|MT19937|PCG64DXSM|PCG64|Philox|SFC64)\("
    r"(?:\s*(?:seed\s*=\s*)?([\w.]*)(?:(?<=[\w.])\s*)?\))?"
)

# A class that uses entropy first, even if it is called with a seed.
_ALWAYS_ASKS = "RandomState"

_MISSING: Any = object()


def find_unseeded(maker: FrameType) -> str | None:
    """Return the function that user code calls and that makes numpy use entropy.

    Args:
        maker: The frame of the code that calls numpy.

    Returns:
        The import name of the function; empty if unknown. None if the generator is seeded after
        all: for example, a copied generator uses entropy first, and then gets the state of the
        original.
    """
    if maker.f_globals.get("__name__") == "numpy.random._pickle":
        return None
    line = linecache.getline(maker.f_code.co_filename, maker.f_lineno)
    calls = {call[1]: _is_given(call[2], maker) for call in _SEEDING_CALLS.finditer(line)}
    if calls and all(calls.values()) and _ALWAYS_ASKS in calls:
        return None
    if calls.get(_ALWAYS_ASKS, False) is None:  # not known
        return ""
    if not _is_users(maker):
        return _called_by_user(maker)
    return next((f"numpy.random.{name}" for name, given in calls.items() if not given), "")


def _is_given(argument: str | None, frame: FrameType) -> bool | None:
    """Return whether a call in a frame passes a seed; None if unknown."""
    if argument is None:
        return None
    if argument in {"", "None"}:
        return False
    value = 0 if argument[0].isdigit() else _find(argument, frame)
    return value is not None if is_scalar(value) else None


def _find(path: str, frame: FrameType) -> Any:  # noqa: ANN401
    """Return the value of a dotted name, without running user code."""
    root, *steps = path.split(".")
    value = frame.f_locals.get(root, frame.f_globals.get(root, _MISSING))
    for step in steps:
        value = inspect.getattr_static(value, step, _MISSING)
    return value


def _called_by_user(frame: FrameType | None) -> str:
    """Return the import name of the library function that user code called, or ""."""
    called = ""
    while frame is not None and not _is_users(frame):
        name = frame.f_code.co_qualname
        if "<" not in name:  # not a local function, such as a decorator's
            called = _import_name(str(frame.f_globals.get("__name__")), name)
        frame = frame.f_back
    return called if frame is not None else ""


def _is_users(frame: FrameType) -> bool:
    path = frame.f_code.co_filename
    if path[:1] == "<":  # a cell in a terminal
        return frame.f_globals.get("__name__") == "__main__"
    return not is_installed_file(path)


def _import_name(module: str, name: str) -> str:
    """Return the dotted name of a function in the outermost package that exports it."""
    first, parts = name.partition(".")[0], module.split(".")
    held = imported(module, first)
    outer = [".".join(parts[:count]) for count in range(1, len(parts))]
    public = ".".join(part.lstrip("_") for part in parts)  # ``scipy.stats.qmc``
    offers = [each for each in (*outer, public) if imported(each, first) is held]
    home = offers[0] if offers and held is not None else module
    return f"{home}.{name}".removesuffix(".__init__")


Function = Callable[..., Any]

# Modules that list folders for their own purposes.
_LIST_FOR_THEMSELVES = (
    "_frozen_importlib", "importlib", "ipytorchseed", "IPython", "pkg_resources", "shutil",
    "tempfile",
)  # fmt: skip

_ACCESS = os.O_RDONLY | os.O_WRONLY | os.O_RDWR
# The positions of arguments of ``fork_exec``, after the first.
_FOLDER_AT, _OUTPUT_AT = 3, 8
# The values of the argument for a program's stdout if it inherits the stdout of this process.
_OURS = (-1, 1)

# The number of bytes that numpy requests to seed a generator from entropy.
_ENTROPY = 16


def _open(listener: FileWatch, file: object, mode: str = "r", *_: object, **__: object) -> None:
    listener.opens(absolute(file), mode)


def _open_descriptor(
    listener: FileWatch, path: object, flags: int, _: int = 0, **other: object
) -> None:
    written = "w" if flags & (os.O_TRUNC | os.O_EXCL) else "a"
    mode = "r" if flags & _ACCESS == os.O_RDONLY else written
    listener.opens(absolute(path, other.get("dir_fd")), mode)


def tell_write(listener: FileWatch, file: object) -> None:
    """Report that a file is about to be overwritten."""
    listener.opens(absolute(file), "w")


def _open_database(
    listener: FileWatch, database: object, *_: object, uri: object = False, **__: object
) -> None:
    name = os.fsdecode(database) if isinstance(database, bytes) else str(database)
    if uri and name.startswith("file:"):
        name = name.removeprefix("file:").partition("?")[0]
    if name and not name.startswith(":"):  # in memory
        listener.opens_database(absolute(name))


def _change(listener: FileWatch, path: object, *_: object, dir_fd: object = None) -> None:
    listener.changes(absolute(path, dir_fd))


def _make_folder(listener: FileWatch, path: object, _: int = 0, **other: object) -> None:
    listener.makes(absolute(path, other.get("dir_fd")))


def _list(listener: FileWatch, path: object = ".") -> None:
    caller = sys._getframe(2).f_globals.get("__name__")  # noqa: SLF001 -- of the function above
    if not str(caller).startswith(_LIST_FOR_THEMSELVES):
        listener.lists(absolute("." if path is None else path))


def _rename(listener: FileWatch, src: object, dst: object, **folders: object) -> None:
    listener.changes(absolute(src, folders.get("src_dir_fd")))
    listener.changes(absolute(dst, folders.get("dst_dir_fd")))


def _start(listener: FileWatch, words: Sequence[object], *rest: object) -> None:
    _tell_program(listener, words, rest[_FOLDER_AT], prints=rest[_OUTPUT_AT] in _OURS)


def _spawn(
    listener: FileWatch, _: object, words: Sequence[object], *__: object, **more: Any
) -> None:
    actions = more.get("file_actions") or ()
    output = [fd for action, fd, *to in actions if action == os.POSIX_SPAWN_DUP2 and to == [1]]
    _tell_program(listener, words, None, prints=output[:1] in ([], [1]))


def _tell_program(
    listener: FileWatch, words: Sequence[object], folder: object, *, prints: bool
) -> None:
    listener.alone = False
    texts = [os.fsdecode(each) for each in words if isinstance(each, str | bytes)]
    texts = " ".join(texts[2:]).split() if "-c" in texts[1:2] else texts
    listener.runs(scripts_of(texts), os.fsdecode(folder) if isinstance(folder, str | bytes) else "")
    if prints and may_print_result(" ".join(texts)):
        listener.prints()


def _system(listener: FileWatch, command: str) -> None:
    listener.runs(scripts_of(command.split()))
    if may_print_result(command):
        listener.prints()


def _ask(listener: FileWatch, size: int) -> None:
    """Report that numpy seeds a generator from entropy, if ``secrets.randbits`` calls."""
    caller = sys._getframe(2)  # noqa: SLF001 -- of the function above
    maker = caller.f_back  # numpy's compiled code in between has no frame
    if size == _ENTROPY and maker and caller.f_code is SystemRandom.getrandbits.__code__:
        function = find_unseeded(maker)
        if function is not None:
            listener.asks(function)


def _resolve(listener: FileWatch, host: object, *_: object, **__: object) -> Function | None:
    """Return a function that reports the addresses of a host, given the result."""
    if not isinstance(host, str):
        return None
    return lambda found: listener.connections.resolves(host, {entry[4][0] for entry in found})


def _connect(listener: FileWatch, made: socket.socket, *given: Any) -> None:
    """Report ``connect(address)`` or ``sendto(data, address)``."""
    frame = sys._getframe(2)  # noqa: SLF001 -- of the function above
    listener.connections.connects(made.family, given[-1], frame)


def _send(listener: FileWatch, made: socket.socket, *_: object) -> None:
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
    (socket.getaddrinfo, _resolve),
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
    *((*at, _send) for at in product((socket.socket, ssl.SSLSocket), ("send", "sendall"))),
    *((made, "scandir", _list) for made in [getattr(glob, "_StringGlobber", None)] if made),
]
