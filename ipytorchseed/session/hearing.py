"""Reports calls that use files, programs and sockets while a cell runs.

The functions are replaced by wrappers in every module that has imported them, and restored
afterwards. An audit hook would see more calls, but it cannot be removed, and makes every ``id()``
several times slower.

If Python starts a program, the scripts among its arguments are reported. Connections are reported
if they use ``socket.socket``, but gRPC, curl, ZeroMQ and torch.distributed connect in C code.
Files that C code opens (HDF5, Arrow, SQLite, ``torch.jit.load``) are not reported, except for
``torch.save``. Neither are calls of ``io.FileIO``, because it is a type with subclasses.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from types import FunctionType, ModuleType
from typing import Any

from ipytorchseed.introspection.replacing import Replacements
from ipytorchseed.session.file_calls import (
    CALLS,
    METHODS,
    OPEN,
    absolute,
    names_of,
    tell_write,
)
from ipytorchseed.session.files import FileWatch

Function = Callable[..., Any]
Place = tuple[dict[Any, Any], object]

_PLAIN = (str, int, bytes, type(None))

_listener: FileWatch | None = None

# The paths of files to open instead of other files, by the path of the other file.
_instead: dict[str, str] = {}

# The files whose opening was redirected, by path. Native code opens files directly.
redirected: set[str] = set()


def start(listener: FileWatch) -> None:
    """Report calls to this listener from now on, and to no other listener."""
    global _listener  # noqa: PLW0603 -- the functions belong to the process
    if not _looked:
        look_through()
    elif _last(sys.modules) != _ended:  # modules imported since then have the originals
        names = [*sys.modules]
        for name in names[names.index(_ended[1]) + 1 if _ended[1] in sys.modules else 0 :]:
            _note(name, _NAMES)
    _listener = listener
    _exchange(_HEARD)
    for made, name, own, heard in _METHODS:
        if vars(made).get(name) is own:  # do not replace patches of other code
            _methods.put(made, name, heard)


def stop(listener: FileWatch) -> None:
    """Stop reporting to a listener, and restore the functions.

    Functions that other code has replaced in the meantime are not restored.
    """
    global _listener, _ended  # noqa: PLW0603 -- as above
    if _listener is listener:
        _listener = None
        _exchange(_ORIGINAL)
        _methods.put_back()
        _ended = _last(sys.modules)


def open_instead(files: Mapping[str, str]) -> None:
    """Redirect files: when a cell opens one of them, another file is opened instead.

    Files that the cell has written itself are not redirected.

    Args:
        files: The paths of the files to open instead, by the path of the redirected file. Earlier
            redirections end.
    """
    _instead.clear()
    _instead.update(files)


def _other(listener: FileWatch, path: object) -> object:
    """Return the path to open instead of ``path``, or ``path`` itself."""
    try:
        name = absolute(path)
    except TypeError:
        return path
    if name not in _instead or listener.has_written(name):
        return path
    redirected.add(name)
    return _instead[name]


def _heard(original: Function, tell: Function) -> Function:
    """Return a wrapper of a function that reports its calls."""

    @functools.wraps(original)
    def function(*args: object, **kwargs: object) -> object:
        listener, then = _listener, None
        if listener is not None:
            args = tuple([_plain(each) for each in args])
            kwargs = {name: _plain(each) for name, each in kwargs.items()}
            try:  # noqa: SIM105 -- a context manager would take longer than all of this
                then = tell(listener, *args, **kwargs)
            except Exception:  # noqa: BLE001, S110 -- the original raises errors in the arguments
                pass
            if _instead and args and original in OPEN:
                args = (_other(listener, args[0]), *args[1:])
        try:
            found = original(*args, **kwargs)
        except BaseException as error:
            error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
            raise
        if then is not None:
            with suppress(Exception):
                then(found)
        return found

    return function


def _plain(value: object) -> object:
    """Convert a path object to a string, so that ``__fspath__`` runs only once.

    Return other values unchanged.
    """
    if type(value) in _PLAIN or not hasattr(type(value), "__fspath__"):
        return value
    try:
        return os.fspath(value)  # type: ignore[call-overload] # checked above
    except Exception:  # noqa: BLE001 -- the original raises it too
        return value


_PAIRS = [(original, _heard(original, tell)) for original, tell in CALLS]
_HEARD = {id(original): heard for original, heard in _PAIRS}
_ORIGINAL = {id(heard): original for original, heard in _PAIRS}
_NAMES = {original.__name__ for original, _ in _PAIRS}
_IDS = frozenset(_HEARD) | frozenset(_ORIGINAL)

# For each method: the class, the name, the class's own attribute or None, and the wrapper.
_METHODS = [
    (made, name, own, staticmethod(heard) if type(own) is staticmethod else heard)
    for made, name, tell in METHODS
    for own, heard in [(vars(made).get(name), _heard(getattr(made, name), tell))]
]
_methods = Replacements()


# --------------------------------------------------------------------------------------------------
# Where the functions are bound

# The ids of modules that were searched, by name.
_looked: dict[str, int] = {}

_bound: dict[tuple[str, str], None] = {}

# The result of ``_last`` at the end of the last cell or search.
_ended: tuple[int, str] = (0, "")


def _exchange(others: dict[int, Function]) -> None:
    """Replace functions in the modules that have bound them.

    The notebook's names change with every cell, so the notebook is searched each time.

    Args:
        others: The new functions, by the ``id`` of the function to replace.
    """
    _note("__main__", _NAMES)
    modules = sys.modules
    for name, key in _bound:  # without calls, because this runs twice for each cell
        module = modules.get(name)
        if type(module) is ModuleType:
            names = module.__dict__
            other = others.get(id(names.get(key)))
            if other is not None:
                names[key] = other
    for name, find in _ELSEWHERE.items():
        if name in modules:
            for place, at in find(names_of(name)):
                other = others.get(id(place.get(at)))
                if other is not None:
                    place[at] = other


def _note(module: str, keys: Iterable[str]) -> None:
    held = names_of(module)
    _bound.update({(module, key): None for key in keys if id(held.get(key)) in _IDS})


def look_through() -> None:
    """Search the modules that were imported since the last call for the functions.

    This finds the functions under any name. It runs while the kernel is idle, because a thousand
    modules have a hundred thousand names. Until it runs, modules that were imported during a cell
    keep the wrappers, which report nothing after the cell.
    """
    global _ended  # noqa: PLW0603 -- as above
    if _last(sys.modules) == _last(_looked):
        return
    modules = {name: id(module) for name, module in [*sys.modules.items()]}
    for name, module in modules.items():
        if _looked.get(name) != module:
            held = names_of(name)
            if not _IDS.isdisjoint(map(id, [*held.values()])):
                _note(name, [*held])
    _looked.clear()
    _looked.update(modules)
    _ended = _last(sys.modules)
    _exchange(_ORIGINAL if _listener is None else _HEARD)


def _last(modules: dict[str, Any]) -> tuple[int, str]:
    """Return the number of modules, and the name of the last one."""
    return len(modules), next(reversed(modules), "")


def _of_numpy(names: dict[str, Any]) -> Iterator[Place]:
    openers = getattr(names.get("_file_openers"), "_file_openers", None)
    if type(openers) is dict:
        yield openers, None


def _of_torch(names: dict[str, Any]) -> Iterator[Place]:
    """Yield the place of the function that opens the file for ``torch.save``."""
    name = "_open_zipfile_writer"
    opener = names.get(name)
    if type(opener) is FunctionType and id(opener) not in _HEARD and id(opener) not in _ORIGINAL:
        heard = _HEARD[id(opener)] = _heard(opener, tell_write)
        _ORIGINAL[id(heard)] = opener
    yield names, name


# Functions that find more bindings to replace, by module: for ``np.loadtxt`` and ``torch.save``.
_ELSEWHERE = {"numpy.lib._datasource": _of_numpy, "torch.serialization": _of_torch}
