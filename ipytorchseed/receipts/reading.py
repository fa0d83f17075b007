"""Reads a receipt from JSON into typed records, or says in one line why it is not one."""

from __future__ import annotations

import math
import os
import stat
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.errors import ReceiptError, did_you_mean
from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.ledger.records import Run
from ipytorchseed.receipts.privacy import Places, cell_name, found_at
from ipytorchseed.receipts.record import (
    KIND,
    SCHEMA,
    VALUES,
    Receipt,
    Stand,
    each_text,
    each_value,
    printable,
)


def read_file(path: Path, most: int) -> bytes:
    """Return the content of a regular file.

    Args:
        path: The file.
        most: The most bytes that it may have.

    Raises:
        OSError: It cannot be read.
    """
    _refuse_special(path.stat(), most)  # before it is opened: to open a device may do something
    with open(path, "rb", opener=_open_at_once) as file:
        _refuse_special(os.fstat(file.fileno()), most)
        return file.read(most)


def say_unread(error: OSError) -> str:
    """Return why ``read_file`` could not read a file, as a clause."""
    return f"it cannot be read: {error.strerror}" if error.errno else str(error.strerror)


def _open_at_once(path: str, flags: int) -> int:
    """Open a file without blocking, in case that it has become a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _refuse_special(status: os.stat_result, most: int) -> None:
    """Refuse what is no regular file, or too large.

    Raises:
        OSError: It is; ``strerror`` says why.
    """
    if stat.S_ISDIR(status.st_mode):
        reason = "it is a folder, not a file"
    elif not stat.S_ISREG(status.st_mode):
        reason = "it is a pipe or a device, not a file"
    elif status.st_size > most:
        reason = f"it is too large: {status.st_size:,} bytes, and {most:,} at most are read"
    else:
        return
    raise OSError(0, reason)


_LARGEST = 1 << 26
"""The most bytes of a receipt's file: some hundred times a large receipt."""

_LONGEST = 10_000
"""The most characters of a text in it."""

_LATEST = 1 << 36
"""The latest start of a run, in seconds since 1970: some two thousand years."""

_AGAIN = "write it anew with ipytorchseed check --receipt, or ipytorchseed ledger export"


class _Head(Struct):
    schema: int = 0
    kind: str = ""


class _File(Struct):
    notebook: str
    settings: dict[str, Any]
    states: dict[str, Stand]
    values: dict[str, dict[str, Any]]
    cells: list[dict[str, Any]]


def is_receipt(path: Path) -> bool:
    """Return whether a file's content is a receipt, by its kind."""
    try:
        return msgspec.json.decode(read_file(path, _LARGEST), type=_Head).kind == KIND
    except (OSError, ValueError, RecursionError):
        return False


def read(path: str | Path, places: Places) -> Receipt:
    """Read a receipt. Nothing in it is run, imported or unpickled.

    Args:
        path: The file.
        places: This machine's, to find the files that the receipt names.

    Raises:
        ReceiptError: It cannot be read, or is no receipt; one line says why.
    """
    path = Path(path)
    try:
        return _parse(read_file(path, _LARGEST), path.name, places)
    except FileNotFoundError:
        beside = [each.name for each in path.parent.glob("*.json")]
        reason = f"there is no such file{did_you_mean(path.name, beside)}"
    except OSError as error:
        reason = say_unread(error)
    except (RecursionError, OverflowError):
        reason = f"no receipt: its JSON is nested too deeply, or has too large numbers; {_AGAIN}"
    except KeyError:
        reason = f"a damaged receipt: a value that cells name is not in it; {_AGAIN}"
    except (msgspec.ValidationError, TypeError) as error:
        reason = f"a damaged receipt: {error}; {_AGAIN}"
    except (msgspec.DecodeError, UnicodeError):
        reason = f"not all of a receipt: its JSON breaks off, or is none; {_AGAIN}"
    except ValueError as error:
        reason = str(error)
    msg = f"{path}: {reason}"
    raise ReceiptError(printable(msg))


def _parse(content: bytes, name: str, places: Places) -> Receipt:
    try:
        head = msgspec.json.decode(content, type=_Head)
    except msgspec.ValidationError:
        head = _Head()
    if head.kind != KIND:
        raise ValueError(f"not a receipt: its JSON does not say kind {KIND!r}; {_AGAIN}")
    if head.schema != SCHEMA:
        raise ValueError(
            f"a receipt of schema {head.schema}, and this ipytorchseed reads schema {SCHEMA}:"
            " update it, or have the receipt written by the version that is here"
        )
    each_text(msgspec.json.decode(content), _check)
    file = msgspec.json.decode(content, type=_File)
    values = {key: _value(each) for key, each in file.values.items()}
    runs = [
        found_at(replace(_run(each, file.settings, values), receipt=name, kernel=name), places)
        for each in file.cells
    ]
    return Receipt(file.notebook, tuple(runs), file.states)


def _value(told: dict[str, Any]) -> Fingerprint:
    if isinstance(told.get("series"), list):  # JSON has no infinite numbers, and none that are none
        told["series"] = [math.nan if each is None else each for each in told["series"]]
    return msgspec.convert(told, Fingerprint)


def _run(told: dict[str, Any], settings: dict[str, Any], values: dict[str, Fingerprint]) -> Run:
    told |= {"notebook": "", "kernel": "", "source": ""}
    told["settings"] = {**settings, **told.get("settings", {})}
    for name in VALUES:
        if told.get(name) is not None:
            told[name] = each_value(told[name], values.__getitem__)
    run = msgspec.convert(told, Run)
    if not 0 <= run.started < _LATEST:
        raise ValueError(f"a damaged receipt: a cell ran at no time that a clock tells; {_AGAIN}")
    return run


def _check(text: str) -> str:
    """Return a text, or refuse it if it is too long or has control characters."""
    if text.isprintable() and len(text) <= _LONGEST:
        return text
    told = "a damaged receipt: it holds a text with control characters, or of no end"
    raise ValueError(f"{told}; {_AGAIN}")


def match(here: Sequence[Run], there: Sequence[Run]) -> dict[str, Run]:
    """Match the receipt's runs with the cells here; return them by the cell's name here.

    A cell is matched by its id and text; else by a text that only one cell has, or by its id, if it
    was edited; else by its place, right after a cell that was matched.

    Args:
        here: A run for each cell, in the order in which they happened.
        there: The receipt's runs.
    """
    found: dict[str, int] = {}
    for key in (lambda run: (_id(run), run.code), lambda run: run.code, _id):
        _pair(here, there, found, key)
    before = -1
    for run in here if len(here) > 1 else ():  # one cell alone has no place
        after = before + 1
        if run.cell not in found and after < len(there) and after not in found.values():
            found[run.cell] = after
        before = found.get(run.cell, before)
    return {cell: there[place] for cell, place in found.items()}


def _pair(
    here: Sequence[Run], there: Sequence[Run], found: dict[str, int], key: Callable[[Run], object]
) -> None:
    """Match the cells whose key is unique among those left on both sides."""
    mine = [run for run in here if run.cell not in found]
    left = [place for place in range(len(there)) if place not in {*found.values()}]
    counts = [Counter(map(key, mine)), Counter(key(there[place]) for place in left)]
    places = {key(there[place]): place for place in left}
    for run in mine:
        if [count[key(run)] for count in counts] == [1, 1]:
            found[run.cell] = places[key(run)]


def _id(run: Run) -> str:
    return cell_name(run.cell)
