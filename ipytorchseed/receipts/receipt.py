"""A receipt: its records, its file, and how its cells are matched."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from ipytorchseed.errors import ReceiptError, StateError
from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.foreign import ContentError, Format, printable
from ipytorchseed.ledger.records import Findings, Run
from ipytorchseed.reads.written import Written, written
from ipytorchseed.receipts import privacy
from ipytorchseed.receipts.privacy import SHOWN, VALUES, WITHOUT, Places, cell_name, each_value
from ipytorchseed.rng.position import UNKNOWN, Position
from ipytorchseed.why.evidence import FOLDER, HistoryLookup

# The version of the schema.
SCHEMA = 1

# The value of the field ``kind`` in the file.
KIND = "ipytorchseed receipt"

_FORMAT = Format(
    "receipt",
    ReceiptError,
    "write it again with ipytorchseed check --receipt, or ipytorchseed ledger export",
    size=1 << 26,  # a large receipt has a hundredth of this
)

# The maximum number of characters in a text.
_LONGEST = 10_000


class StatePosition(Position, frozen=True, omit_defaults=True):
    """The position of a state in its stream.

    Attributes:
        fresh: Whether no number was drawn since seeding; None if unknown.
    """

    fresh: bool | None = None


class Receipt(msgspec.Struct, frozen=True):
    """A run of a notebook on another machine.

    Attributes:
        notebook: The name of the notebook's file on that machine.
        runs: A run of each cell, in the order in which they happened, without private content.
        positions: The positions of states, by digest.
    """

    notebook: str
    runs: tuple[Run, ...]
    positions: Mapping[str, StatePosition]

    def latest(self, run: Run) -> Sequence[Run]:  # noqa: ARG002 -- as ``HistoryLookup``
        """Return no runs: a receipt has no runs of this kernel."""
        return ()

    def position(self, name: str, digest: str) -> Position | None:  # noqa: ARG002 -- as ``HistoryLookup``
        """Return the position of a state; None if it is not in the receipt."""
        return self.positions.get(digest)

    def draws(self, before: str, after: str) -> int | None:
        """Return how many draws lead from one state to another; None if unknown."""
        first, last = (self.positions.get(digest, StatePosition()) for digest in (before, after))
        if first.draws is None or last.draws is None or first.seed is None:
            return None
        ahead = last.draws - first.draws
        return ahead if first.seed == last.seed and ahead >= 0 else None

    def written(self, run: Run) -> Written:
        """Return the calls and imports in a run's text; empty if the text is unknown."""
        return written(run.source)

    def findings(self, run: Run, against: Run) -> Findings | None:  # noqa: ARG002 -- as above
        """Return None: experiments do not compare runs of two machines."""
        return None

    def is_fresh(self, digest: str) -> bool | None:
        """Return whether nothing was drawn since seeding; None if unknown."""
        return self.positions.get(digest, StatePosition()).fresh

    def leads(self, before: str, after: str, most: int = 0) -> bool:  # noqa: ARG002 -- as above
        """Return whether draws may lead from one state to the other."""
        both = [self.positions.get(digest, StatePosition()) for digest in (before, after)]
        known = all(None not in {each.seed, each.draws} for each in both)
        return not known or self.draws(before, after) is not None


class _File(msgspec.Struct):
    notebook: str
    settings: dict[str, Any]
    states: dict[str, StatePosition]
    values: dict[str, dict[str, Any]]
    cells: list[dict[str, Any]]


def is_receipt(path: Path) -> bool:
    """Return whether a file is a receipt, by the field ``kind`` in it."""
    with suppress(ReceiptError), _FORMAT.errors(path):
        told = _FORMAT.decode(_FORMAT.read(path))
        return isinstance(told, dict) and told.get("kind") == KIND
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
    if not isinstance(told, dict) or told.get("kind") != KIND:
        raise ContentError(f"not a receipt: its JSON does not say kind {KIND!r}")
    if (schema := told.get("schema")) != SCHEMA:
        raise ContentError(f"it has schema {schema}; this ipytorchseed reads schema {SCHEMA}")
    privacy.each_text(told, _check)
    file = msgspec.convert(told, _File)
    values = {key: _value(each) for key, each in file.values.items()}
    runs = [_run(each, file.settings, values) for each in file.cells]
    found = tuple(privacy.found_at(replace(run, kernel=name), places) for run in runs)
    return Receipt(file.notebook, found, file.states)


def _value(told: dict[str, Any]) -> Fingerprint:
    if isinstance(told.get("series"), list):  # JSON has no infinite numbers and no nan
        told["series"] = [float("nan") if each is None else each for each in told["series"]]
    return msgspec.convert(told, Fingerprint)


def _run(told: dict[str, Any], settings: dict[str, Any], values: dict[str, Fingerprint]) -> Run:
    told |= dict.fromkeys(WITHOUT, "")
    told["settings"] = {**settings, **told.get("settings", {})}
    outputs = told.get("outputs")
    for names, record in ((VALUES, told), (SHOWN, outputs if isinstance(outputs, dict) else {})):
        for name in names:
            if record.get(name) is not None:
                record[name] = each_value(record[name], values.__getitem__)
    return msgspec.convert(told, Run)


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
    _pair(here, there, found, lambda run: (cell_name(run.cell), run.code))
    _pair(here, there, found, lambda run: run.code)
    _pair(here, there, found, lambda run: cell_name(run.cell))
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


# Longer series are left out, and so are the named parts of a value that has more of them.
_SERIES, _PARTS = 256, 128

# Returns a lookup for the states of runs.
FindStates = Callable[[], HistoryLookup]


def write(notebook: str, runs: Sequence[Run], find_states: FindStates, places: Places) -> bytes:
    """Write runs as a receipt.

    Args:
        notebook: The name of the notebook's file.
        runs: A run of each cell, in the order in which they happened.
        find_states: Returns a lookup for the states of runs. It is called once for each state, so
            that each state has its own search budget.
        places: The folders and the user of this machine.
    """
    hidden = [privacy.conceal(run, places) for run in runs]
    settings = _shared([run.settings for run in hidden])
    values: dict[str, Fingerprint] = {}
    told = {
        "schema": SCHEMA,
        "kind": KIND,
        "notebook": notebook,
        "written": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "settings": settings,
        "states": find_stands(runs, find_states),
        "cells": [_cell(run, settings, values) for run in hidden],
        "values": values,  # filled by `_cell`
    }
    return msgspec.json.encode(privacy.each_text(msgspec.to_builtins(told), printable)) + b"\n"


def _add(value: Fingerprint, values: dict[str, Fingerprint]) -> str:
    """Add a value to the values of a receipt, and return the name that it gets."""
    if value.series is not None and len(value.series) > _SERIES:
        value = replace(value, series=None)
    if sum(":" in part for part in value.parts) > _PARTS:
        value = replace(value, parts={n: v for n, v in value.parts.items() if ":" not in n})
    name, count = value.digest, 1
    while values.setdefault(name, value) != value:  # same digest, but other parts, for example
        count += 1
        name = f"{value.digest}.{count}"
    return name


def _shared(settings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the settings that are equal in all runs that recorded settings."""
    first, *others = [each for each in settings if FOLDER in each] or [{}]
    absent = object()
    alike = [n for n in first if all(each.get(n, absent) == first[n] for each in others)]
    return {name: first[name] for name in alike}


def find_stands(runs: Sequence[Run], find_states: FindStates) -> dict[str, StatePosition]:
    """Return the positions of the states in which runs began and ended, by digest.

    Args:
        runs: The runs.
        find_states: As for ``write``.
    """
    moves = [states for run in runs for states in (run.before, run.after)]
    named = {digest: name for states in moves for name, digest in states.items()}
    found: dict[str, StatePosition] = {}
    for digest, name in named.items():
        states = find_states()
        with suppress(StateError):  # another version of a library wrote the state
            place = states.position(name, digest) or UNKNOWN
            known = place.seed is not None and place.seed < 1 << 63  # exact integers in JSON
            seed = place.seed if known else None
            found[digest] = StatePosition(seed, place.draws, fresh=states.is_fresh(digest))
    return {digest: each for digest, each in found.items() if each != StatePosition()}


def _cell(run: Run, settings: dict[str, Any], values: dict[str, Fingerprint]) -> dict[str, Any]:
    """Return a run as JSON values.

    Common settings are left out. Fingerprints are added to ``values`` and replaced by their names.
    """
    told: dict[str, Any] = msgspec.to_builtins(run)
    for name in WITHOUT:
        del told[name]
    outputs = told.setdefault("outputs", {})
    for names, record, into in ((VALUES, run, told), (SHOWN, run.outputs, outputs)):
        for name in into.keys() & {*names}:
            into[name] = each_value(getattr(record, name), lambda value: _add(value, values))
    told["settings"] = {n: v for n, v in run.settings.items() if n not in settings}
    return told
