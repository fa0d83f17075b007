"""Records calls that use files, programs and sockets while a cell runs.

They are replaced wherever a module has bound them, and put back. An audit hook would hear more, but
it cannot be removed, and with one each ``id()`` of the process takes several times as long.

Of programs that Python starts, the files of code among their words are heard. Of sockets, the
methods of ``socket.socket`` are: gRPC, curl, ZeroMQ and torch.distributed connect in C code.

Not heard: C code that opens files by itself (HDF5, Arrow, SQLite, ``torch.jit.load``), except that
of ``torch.save``, and ``io.FileIO``, which is a type that others derive from.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from types import FunctionType, ModuleType
from typing import Any

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
    """Return a listener, and no other, of files from now on."""
    global _listener  # noqa: PLW0603 -- the functions are the process's
    if not _looked:
        look_through()
    elif _last(sys.modules) != _ended:  # some were imported with the originals meanwhile
        names = [*sys.modules]
        for name in names[names.index(_ended[1]) + 1 if _ended[1] in sys.modules else 0 :]:
            _note(name, _NAMES)
    _listener = listener
    _exchange(_HEARD)
    _exchange_methods(heard=True)


def stop(listener: Listener) -> None:
    """Stop reporting to that listener, and restore what no one else has replaced."""
    global _listener, _ended  # noqa: PLW0603 -- as above
    if _listener is listener:
        _listener = None
        _exchange(_ORIGINAL)
        _exchange_methods(heard=False)
        _ended = _last(sys.modules)


def open_instead(files: Mapping[str, str]) -> None:
    """Make cells that open a file to read it open another one, by path.

    Replaces earlier ones.

    A file that the cell has written is its own, and opened itself.
    """
    _instead.clear()
    _instead.update(files)


def _other(listener: Listener, path: object) -> object:
    """Return the file that is to be opened instead of one, if any is."""
    try:
        name = absolute(path)
    except TypeError:
        return path
    return path if listener.has_written(name) else _instead.get(name, path)


def _heard(original: Function, tell: Function) -> Function:
    """Make the function that takes another's place."""

    @functools.wraps(original)
    def function(*args: object, **kwargs: object) -> object:
        listener, then = _listener, None
        if listener is not None:
            args = tuple([_plain(each) for each in args])
            kwargs = {name: _plain(each) for name, each in kwargs.items()}
            try:  # noqa: SIM105 -- a context manager costs more than all of this
                then = tell(listener, *args, **kwargs)
            except Exception:  # noqa: BLE001, S110 -- the original raises what is the user's
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
    """Return the text of a path, so that user code that makes it runs once."""
    if type(value) in _PLAIN or not hasattr(type(value), "__fspath__"):
        return value
    try:
        return os.fspath(value)  # type: ignore[call-overload] # it has just been asked
    except Exception:  # noqa: BLE001 -- the original raises it
        return value


_PAIRS = [(original, _heard(original, tell)) for original, tell in CALLS]
_HEARD = {id(original): heard for original, heard in _PAIRS}
_ORIGINAL = {id(heard): original for original, heard in _PAIRS}
_NAMES = {original.__name__ for original, _ in _PAIRS}
_IDS = frozenset(_HEARD) | frozenset(_ORIGINAL)

_MISSING: Any = object()
# Class, name, what the class itself has under it, and what hears.
_METHODS = [
    (made, name, own, staticmethod(heard) if type(own) is staticmethod else heard)
    for made, name, tell in METHODS
    for own, heard in [(vars(made).get(name, _MISSING), _heard(getattr(made, name), tell))]
]


def _exchange_methods(*, heard: bool) -> None:
    """Put what hears into classes, or take it out; what others have put there stays."""
    for made, name, own, hears in _METHODS:
        before, after = (own, hears) if heard else (hears, own)
        if vars(made).get(name, _MISSING) is not before:
            continue
        if after is _MISSING:
            delattr(made, name)
        else:
            setattr(made, name, after)


# --------------------------------------------------------------------------------------------------
# Where they are bound

# The ids of modules that were looked through, by name.
_looked: dict[str, int] = {}

_bound: dict[tuple[str, str], None] = {}

# How many modules there were, and which was the last, at the end of the last cell or look.
_ended: tuple[int, str] = (0, "")


def _exchange(others: dict[int, Function]) -> None:
    """Replace functions, by their ids, where modules have bound them.

    The notebook's own names, which grow with every cell, are looked at each time.
    """
    _note("__main__", _NAMES)
    modules = sys.modules
    for name, key in _bound:  # twice for every cell: without a call for each
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

    A thousand modules have a hundred thousand names: this is for when no one waits. Until then a
    module that was imported during a recorded cell keeps its wrapped functions, which report
    nothing after the cell.
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
    """Return how many modules there are, and the last.

    A module imported again moves there.
    """
    return len(modules), next(reversed(modules), "")


def _of_numpy(names: dict[str, Any]) -> Iterator[Place]:
    openers = getattr(names.get("_file_openers"), "_file_openers", None)
    if type(openers) is dict:
        yield openers, None


def _of_torch(names: dict[str, Any]) -> Iterator[Place]:
    """Find what opens the file of ``torch.save``, which C code writes."""
    name = "_open_zipfile_writer"
    opener = names.get(name)
    if type(opener) is FunctionType and id(opener) not in _HEARD and id(opener) not in _ORIGINAL:
        heard = _HEARD[id(opener)] = _heard(opener, tell_write)
        _ORIGINAL[id(heard)] = opener
    yield names, name


# Where they are bound in no module's names: for ``np.loadtxt`` and ``torch.save``.
_ELSEWHERE = {"numpy.lib._datasource": _of_numpy, "torch.serialization": _of_torch}
