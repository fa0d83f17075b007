"""Fingerprints of opaque objects: their type, and their position if they have one."""

from __future__ import annotations

import gc
import io
import itertools
import sys
import types
from contextlib import suppress
from typing import Any

from ipytorchseed.fingerprint.scalars import text
from ipytorchseed.fingerprint.value import DATABASE
from ipytorchseed.fingerprint.walk import Draft, Walk, Writing
from ipytorchseed.introspection.anatomy import anatomy, dictionary_of

# Packages whose objects are not read, because they refer to a large part of the process.
PACKAGES = frozenset({
    "IPython", "_io", "_queue", "_socket", "_sqlite3", "_ssl", "_thread", "asyncio", "concurrent",
    "ipykernel", "logging", "matplotlib", "mpl_toolkits", "multiprocessing", "selectors", "socket",
    "sqlite3", "ssl", "subprocess", "threading", "tornado", "zmq",
})  # fmt: skip


def write_opaque(value: Any, walk: Walk) -> Writing:
    """Encode only the type of an object."""
    yield from ()
    made = anatomy(type(value))
    walk.mark_unseen(made.name)
    return Draft(b"opaque" + text(made.name), "opaque", made.title, opaque=True)


# --------------------------------------------------------------------------------------------------
# Iterators


def iterator_position(value: Any) -> object:
    """Return the iterable and the position of a builtin iterator."""
    return type(value).__reduce__(value)[1:]  # type: ignore[call-arg] # of C


def referents(value: Any) -> object:
    """Return the objects that an ``itertools`` iterator refers to, and its counter.

    The inner iterators contain the position. ``__reduce__`` would return more, but it is deprecated
    in Python 3.12 and removed in 3.14.
    """
    held = [each for each in gc.get_referents(value) if type(each) is not type]
    shown = ""
    if type(value) is itertools.count and all(type(each) in (int, float) for each in held):
        shown = repr(value)  # its counter is in no other object
    elif type(value) is itertools.repeat:
        with suppress(TypeError):  # infinite
            shown = f"{itertools.repeat.__length_hint__(value)}"
    return [shown, *held]


_FRAMES = {types.GeneratorType: "gi", types.CoroutineType: "cr", types.AsyncGeneratorType: "ag"}


def write_generator(value: Any, walk: Walk) -> Writing:
    """Encode a generator or coroutine: its code, position and local variables.

    The variables are found with ``gc.get_referents``. Reading ``f_locals`` would store a copy in
    the frame, which keeps old values alive.
    """
    made = anatomy(type(value))
    walk.mark_unseen(made.name)
    prefix = _FRAMES[type(value)]
    frame, code = getattr(value, f"{prefix}_frame"), getattr(value, f"{prefix}_code")
    where, around = None, set[int]()
    if frame is not None:
        where, around = frame.f_lasti, {id(frame.f_globals), id(frame.f_builtins)}
    del frame
    skipped = (types.FrameType, types.FunctionType, types.CodeType, types.ModuleType, type)
    held = [each for each in gc.get_referents(value) if type(each) not in skipped]
    token = yield [code, where, *(each for each in held if id(each) not in around)]
    shown = f"{'finished' if where is None else 'suspended'} {made.title} {code.co_name}"
    return Draft(b"generator" + token, "generator", shown, opaque=True)


# --------------------------------------------------------------------------------------------------
# Files


# The attribute with the file below, by the type of the file.
_BELOW: dict[type, str] = {io.TextIOWrapper: "buffer", io.BufferedReader: "raw",
                           io.BufferedWriter: "raw", io.BufferedRandom: "raw"}  # fmt: skip


def file_position(value: Any) -> object:
    """Return a file's name, mode and position, without changing the file.

    ``tell`` would flush a file that is open for writing, so it is called on the raw file below.
    While a text file is iterated over, ``tell`` raises, so it is called on its buffer.
    """
    raw, layers = value, [value]
    while type(raw) in _BELOW:
        raw = vars(type(raw))[_BELOW[type(raw)]].__get__(raw)
        layers.append(raw)
    if type(raw) is not io.FileIO:
        return None
    if vars(io.FileIO)["closed"].__get__(raw):
        return "closed"
    name = dictionary_of(raw).get("name")
    mode = vars(io.FileIO)["mode"].__get__(raw)
    reading = "r" in mode and "+" not in mode
    position = None
    for each in layers[:2] if reading else (raw,):
        with suppress(OSError, ValueError):
            position = type(each).tell(each)
            break
    return name if type(name) in (str, bytes, int) else None, mode, position


def write_database(value: Any, walk: Walk) -> Writing:
    """Encode an SQLite connection by the number of rows that it has changed."""
    yield from ()
    sqlite3: Any = sys.modules["sqlite3"]
    walk.mark_unseen("sqlite3.Connection")
    wrote = "unknown"
    with suppress(sqlite3.Error):  # it is closed, or belongs to another thread
        wrote = str(sqlite3.Connection.total_changes.__get__(value))
    parts = {"rows written": wrote}
    return Draft(wrote.encode(), DATABASE, DATABASE, parts, opaque=True)
