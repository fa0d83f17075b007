"""Reports calls that use files, programs and sockets while a cell runs.

The functions are replaced in every module that has bound them, and restored afterwards. An audit
hook would see more calls, but it cannot be removed, and makes every ``id()`` several times slower.

If Python starts a program, the code files among its arguments are reported. Of sockets, calls of
the methods of ``socket.socket`` are reported; gRPC, curl, ZeroMQ and torch.distributed connect in C
code. Not reported are C code that opens files (HDF5, Arrow, SQLite, ``torch.jit.load``), except
``torch.save``, and ``io.FileIO``, which is a type that others derive from.
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
    Listener,
    absolute,
    names_of,
    tell_write,
)

Function = Callable[..., Any]
Place = tuple[dict[Any, Any], object]

_PLAIN = (str, int, bytes, type(None))

_listener: Listener | None = None

# Files that are opened instead of others, by path.
_instead: dict[str, str] = {}


def start(listener: Listener) -> None:
    """Report calls to this listener from now on, and to no other."""
    global _listener  # noqa: PLW0603 -- the functions belong to the process
    if not _looked:
        look_through()
    elif _last(sys.modules) != _ended:  # modules imported meanwhile have the originals
        names = [*sys.modules]
        for name in names[names.index(_ended[1]) + 1 if _ended[1] in sys.modules else 0 :]:
            _note(name, _NAMES)
    _listener = listener
    _exchange(_HEARD)
    for made, name, own, heard in _METHODS:
        if vars(made).get(name) is own:  # patches of other code stay
            _methods.put(made, name, heard)


def stop(listener: Listener) -> None:
    """Stop reporting to a listener, and restore what no one else has replaced."""
    global _listener, _ended  # noqa: PLW0603 -- as above
    if _listener is listener:
        _listener = None
        _exchange(_ORIGINAL)
        _methods.put_back()
        _ended = _last(sys.modules)


def open_instead(files: Mapping[str, str]) -> None:
    """Make cells that open certain files open others instead.

    Files that the cell has written itself are not redirected.

    Args:
        files: The paths to open, by the paths that cells ask for. They replace earlier ones.
    """
    _instead.clear()
    _instead.update(files)


def _other(listener: Listener, path: object) -> object:
    """Return the path to open instead of the given one, or that itself."""
    try:
        name = absolute(path)
    except TypeError:
        return path
    return path if listener.has_written(name) else _instead.get(name, path)


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
            except Exception:  # noqa: BLE001, S110 -- the original raises the user's errors
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
    """Return the string of a path, so that the user's ``__fspath__`` runs once."""
    if type(value) in _PLAIN or not hasattr(type(value), "__fspath__"):
        return value
    try:
        return os.fspath(value)  # type: ignore[call-overload] # checked above
    except Exception:  # noqa: BLE001 -- the original raises it
        return value


_PAIRS = [(original, _heard(original, tell)) for original, tell in CALLS]
_HEARD = {id(original): heard for original, heard in _PAIRS}
_ORIGINAL = {id(heard): original for original, heard in _PAIRS}
_NAMES = {original.__name__ for original, _ in _PAIRS}
_IDS = frozenset(_HEARD) | frozenset(_ORIGINAL)

# Class, name, the class's own attribute of that name, if any, and its wrapper.
_METHODS = [
    (made, name, own, staticmethod(heard) if type(own) is staticmethod else heard)
    for made, name, tell in METHODS
    for own, heard in [(vars(made).get(name), _heard(getattr(made, name), tell))]
]
_methods = Replacements()


# --------------------------------------------------------------------------------------------------
# Where modules have bound the functions

# The ids of modules that were searched, by name.
_looked: dict[str, int] = {}

_bound: dict[tuple[str, str], None] = {}

# The number of modules and the last one, at the end of the last cell or search.
_ended: tuple[int, str] = (0, "")


def _exchange(others: dict[int, Function]) -> None:
    """Replace functions, given by id, in the modules that have bound them.

    The notebook's own names change with every cell, so they are searched each time.
    """
    _note("__main__", _NAMES)
    modules = sys.modules
    for name, key in _bound:  # runs twice for every cell, so it avoids calls
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
    """Find the functions, under any name, in modules that are new since the last time.

    A thousand modules have a hundred thousand names, so this runs while the kernel is idle. Until
    then, a module that was imported during a recorded cell keeps its wrapped functions, which
    report nothing after the cell.
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
    """Return the number of modules and the last one, which is the last imported."""
    return len(modules), next(reversed(modules), "")


def _of_numpy(names: dict[str, Any]) -> Iterator[Place]:
    openers = getattr(names.get("_file_openers"), "_file_openers", None)
    if type(openers) is dict:
        yield openers, None


def _of_torch(names: dict[str, Any]) -> Iterator[Place]:
    """Yield what opens the file of ``torch.save``, which C code writes."""
    name = "_open_zipfile_writer"
    opener = names.get(name)
    if type(opener) is FunctionType and id(opener) not in _HEARD and id(opener) not in _ORIGINAL:
        heard = _HEARD[id(opener)] = _heard(opener, tell_write)
        _ORIGINAL[id(heard)] = opener
    yield names, name


# Modules where other objects have bound them, for ``np.loadtxt`` and ``torch.save``.
_ELSEWHERE = {"numpy.lib._datasource": _of_numpy, "torch.serialization": _of_torch}
