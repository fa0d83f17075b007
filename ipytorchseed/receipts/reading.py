"""Reads receipts from JSON into typed records, and matches their cells."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.errors import ReceiptError
from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.foreign import ContentError, Format
from ipytorchseed.ledger.records import Run
from ipytorchseed.receipts.privacy import Places, cell_name, found_at
from ipytorchseed.receipts.record import (
    KIND,
    SCHEMA,
    SHOWN,
    VALUES,
    Receipt,
    StatePosition,
    each_text,
    each_value,
)

_FORMAT = Format(
    "receipt",
    ReceiptError,
    "write it again with ipytorchseed check --receipt, or ipytorchseed ledger export",
    size=1 << 26,  # a large receipt has a hundredth of this
)

# The most characters of a text.
_LONGEST = 10_000


class _Head(Struct):
    schema: int = 0
    kind: str = ""


class _File(Struct):
    notebook: str
    settings: dict[str, Any]
    states: dict[str, StatePosition]
    values: dict[str, dict[str, Any]]
    cells: list[dict[str, Any]]


def is_receipt(path: Path) -> bool:
    """Return whether a file is a receipt, by the field ``kind`` in it."""
    with suppress(ReceiptError), _FORMAT.errors(path):
        return msgspec.convert(_FORMAT.decode(_FORMAT.read(path)), _Head).kind == KIND
    return False


def read(path: str | Path, places: Places) -> Receipt:
    """Read a receipt. Nothing in the file is executed, imported or unpickled.

    Args:
        path: The file.
        places: The folders and the user of this machine, to find files that the receipt names.

    Raises:
        ReceiptError: The file cannot be read, or is not a receipt.
    """
    with _FORMAT.errors(path):
        return _parse(_FORMAT.read(path), Path(path).name, places)


def _parse(content: bytes, name: str, places: Places) -> Receipt:
    told = _FORMAT.decode(content)
    try:
        head = msgspec.convert(told, _Head)
    except msgspec.ValidationError:
        head = _Head()
    if head.kind != KIND:
        raise ContentError(f"not a receipt: its JSON does not say kind {KIND!r}")
    if head.schema != SCHEMA:
        raise ContentError(f"it has schema {head.schema}; this ipytorchseed reads schema {SCHEMA}")
    each_text(told, _check)
    file = msgspec.convert(told, _File)
    values = {key: _value(each) for key, each in file.values.items()}
    runs = [
        found_at(replace(_run(each, file.settings, values), kernel=name), places)
        for each in file.cells
    ]
    return Receipt(file.notebook, tuple(runs), file.states)


def _value(told: dict[str, Any]) -> Fingerprint:
    if isinstance(told.get("series"), list):  # JSON has no infinite numbers and no nan
        told["series"] = [math.nan if each is None else each for each in told["series"]]
    return msgspec.convert(told, Fingerprint)


def _run(told: dict[str, Any], settings: dict[str, Any], values: dict[str, Fingerprint]) -> Run:
    told |= {"notebook": "", "kernel": "", "source": ""}
    told["settings"] = {**settings, **told.get("settings", {})}
    outputs = told.get("outputs")
    for names, record in ((VALUES, told), (SHOWN, outputs if isinstance(outputs, dict) else {})):
        for name in names:
            if record.get(name) is not None:
                record[name] = each_value(record[name], partial(_named, values))
    return msgspec.convert(told, Run)


def _named(values: dict[str, Fingerprint], name: Any) -> Fingerprint:  # noqa: ANN401 -- a JSON value
    if isinstance(name, str) and name in values:
        return values[name]
    raise ContentError("a damaged receipt: a value that a cell names is missing")


def _check(text: str) -> str:
    """Return a text, or raise an error if it is too long or not printable.

    Raises:
        ContentError: The text is too long or has control characters.
    """
    if text.isprintable() and len(text) <= _LONGEST:
        return text
    raise ContentError("a damaged receipt: a text has control characters, or is too long")


def match(here: Sequence[Run], there: Sequence[Run]) -> dict[str, Run]:
    """Match the cells of a receipt with the cells of this notebook.

    Cells with the same id and text are matched first, then cells with the same unique text, then
    cells with the same id. Each remaining cell is matched with the cell after its predecessor's
    match.

    Args:
        here: A run of each cell of this notebook, in the order in which they happened.
        there: The receipt's runs.

    Returns:
        The matching runs of the receipt, by the name of the cell in this notebook.
    """
    found: dict[str, int] = {}
    for key in (lambda run: (_id(run), run.code), lambda run: run.code, _id):
        _pair(here, there, found, key)
    before = -1
    for run in here if len(here) > 1 else ():  # a single cell has no position
        after = before + 1
        if run.cell not in found and after < len(there) and after not in found.values():
            found[run.cell] = after
        before = found.get(run.cell, before)
    return {cell: there[place] for cell, place in found.items()}


def _pair(
    here: Sequence[Run], there: Sequence[Run], found: dict[str, int], key: Callable[[Run], object]
) -> None:
    """Match cells whose key occurs once among the unmatched cells of each side.

    Args:
        here: The runs of this notebook.
        there: The receipt's runs.
        found: The matches so far: the index in ``there`` by the name of the cell. It is extended.
        key: Returns the key of a run.
    """
    mine = [run for run in here if run.cell not in found]
    left = [place for place in range(len(there)) if place not in {*found.values()}]
    counts = [Counter(map(key, mine)), Counter(key(there[place]) for place in left)]
    places = {key(there[place]): place for place in left}
    for run in mine:
        if [count[key(run)] for count in counts] == [1, 1]:
            found[run.cell] = places[key(run)]


def _id(run: Run) -> str:
    return cell_name(run.cell)
