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
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from types import FunctionType, ModuleType
from typing import Any

from ipytorchseed.introspection.replacing import Replacements
from ipytorchseed.introspection.values import imported, module_names
from ipytorchseed.session.file_calls import CALLS, METHODS, OPEN, absolute, tell_write
from ipytorchseed.session.files import FileWatch

Function = Callable[..., Any]

_PLAIN = (str, int, bytes, type(None))

_listener: FileWatch | None = None

# The paths of files to open instead of other files, by the path of the other file.
_instead: dict[str, str] = {}

# The files whose opening was redirected, by path. Native code opens files directly.
redirected: set[str] = set()


def start(listener: FileWatch) -> None:
    """Report calls to this listener from now on, and to no other listener."""
    global _listener  # noqa: PLW0603 -- the functions belong to the process
    search()
    _listener = listener
    _exchange(_HEARD)
    for made, name, own, heard in _METHODS:
        if vars(made).get(name) is own:  # do not replace patches of other code
            _methods.put(made, name, heard)


def stop(listener: FileWatch) -> None:
    """Stop reporting to a listener, and restore the functions.

    Functions that other code has replaced in the meantime are not restored.
    """
    global _listener  # noqa: PLW0603 -- as above
    if _listener is listener:
        _listener = None
        _exchange(_ORIGINAL)
        _methods.put_back()


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
_EITHER = {*_HEARD, *_ORIGINAL}

# For each method: the class, the name, the class's own attribute or None, and the wrapper.
_METHODS = [
    (made, name, own, staticmethod(heard) if type(own) is staticmethod else heard)
    for made, name, tell in METHODS
    for own, heard in [(vars(made).get(name), _heard(getattr(made, name), tell))]
]
_methods = Replacements()


# --------------------------------------------------------------------------------------------------
# Where the functions are bound

_NAMES = {original.__name__ for original, _ in _PAIRS}

# The places where modules bind the functions: the name of the module, and the name in it.
_bound: dict[tuple[str, str], None] = {}

# The number of modules at the last search, and the name of the last one.
_searched: tuple[int, str] = (0, "")

# The function that opens the file for ``torch.save``, by module and name.
_OF_TORCH = "torch.serialization", "_open_zipfile_writer"


def search() -> None:
    """Find the functions in the modules that were imported since the last call.

    It is called while the kernel is idle, because many modules take 10 ms. Until then, modules that
    were imported during a cell keep the wrappers, which report nothing after the cell.
    """
    global _searched  # noqa: PLW0603 -- as above
    last = len(sys.modules), next(reversed(sys.modules))
    if last != _searched:
        names, before = [*sys.modules], _searched[1]
        for name in names[names.index(before) + 1 if before in sys.modules else 0 :]:
            _note(name)
        _searched = last
        _exchange(_ORIGINAL if _listener is None else _HEARD)


def restore() -> None:
    """Restore the functions everywhere, also where other code bound them later."""
    for name in [*sys.modules]:
        _note(name)
    _exchange(_ORIGINAL if _listener is None else _HEARD)


def _note(module: str, keys: Collection[str] = ()) -> None:
    """Store the places where a module binds the functions.

    Args:
        module: The name of the module.
        keys: The names in the module to search; empty for all.
    """
    held = module_names(sys.modules.get(module))
    if module == _OF_TORCH[0]:
        opener: Any = held.get(_OF_TORCH[1])
        if type(opener) is FunctionType and id(opener) not in _ORIGINAL:
            heard = _HEARD.setdefault(id(opener), _heard(opener, tell_write))
            _ORIGINAL[id(heard)] = opener
            _EITHER.update((id(opener), id(heard)))
            _bound[_OF_TORCH] = None
    if not keys and _EITHER.isdisjoint(map(id, [*held.values()])):  # as in most modules
        return
    for key in keys or [*held]:
        if id(held.get(key)) in _EITHER:
            _bound[module, key] = None


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
    openers = getattr(imported("numpy.lib._datasource", "_file_openers"), "_file_openers", None)
    if type(openers) is dict:  # for ``np.loadtxt``
        openers[None] = others.get(id(openers.get(None)), openers.get(None))
