"""Writes runs as a receipt within a size limit."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from msgspec.structs import replace

from ipytorchseed.errors import StateError
from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.foreign import printable
from ipytorchseed.ledger.records import Run
from ipytorchseed.receipts.privacy import Places, conceal
from ipytorchseed.receipts.record import (
    KIND,
    SCHEMA,
    SHOWN,
    VALUES,
    StatePosition,
    each_text,
    each_value,
)
from ipytorchseed.rng.position import UNKNOWN
from ipytorchseed.why.evidence import FOLDER, HistoryLookup

# Levels of detail: the most numbers of a series, and the most named parts of a value. The first
# level that fits is used.
_DETAIL = ((1024, 512), (256, 128), (64, 32), (16, 0), (1, 0))

# Bytes that a receipt may take for each cell, and in any case.
_PER_CELL, _LEAST = 3_600, 180_000

# Fields of a run that are empty in a receipt.
_ALWAYS_THERE = ("notebook", "kernel", "source")


def write(
    notebook: str,
    runs: Sequence[Run],
    find_states: Callable[[], HistoryLookup | None],
    places: Places,
) -> bytes:
    """Write runs as a receipt.

    Args:
        notebook: The name of the notebook's file.
        runs: One for each cell, in the order in which they happened.
        find_states: Returns a lookup of their states. It is called for each state, because each
            has a separate search budget.
        places: Those of this machine.
    """
    hidden = [conceal(run, places) for run in runs]
    told: dict[str, Any] = {
        "schema": SCHEMA,
        "kind": KIND,
        "notebook": notebook,
        "written": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "settings": _shared([run.settings for run in hidden]),
        "states": find_stands(runs, find_states),
    }
    content = b""
    for most in _DETAIL:
        values = _Values(*most)
        cells = [_cell(run, told["settings"], values) for run in hidden]
        told |= {"values": values.named, "cells": cells}
        content = msgspec.json.encode(each_text(msgspec.to_builtins(told), printable)) + b"\n"
        if len(content) <= max(_LEAST, _PER_CELL * len(runs)):
            break
    return content


class _Values:
    """Collects values by name, which is their digest.

    Args:
        series: The most numbers of a series that is kept.
        parts: The most named parts of a value that are kept.
    """

    def __init__(self, series: int, parts: int) -> None:
        self.named: dict[str, Fingerprint] = {}
        self._most = series, parts

    def name(self, value: Fingerprint) -> str:
        """Add a value, at this level of detail, and return its name."""
        series, parts = self._most
        if value.series is not None and len(value.series) > series:
            value = replace(value, series=None)
        if sum(":" in part for part in value.parts) > parts:
            value = replace(value, parts={n: v for n, v in value.parts.items() if ":" not in n})
        name, count = value.digest, 1
        while self.named.setdefault(name, value) != value:  # equal content with another aspect
            count += 1
            name = f"{value.digest}.{count}"
        return name


def _shared(settings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the settings that are equal in all runs, ignoring cells that run no code."""
    settings = [each for each in settings if FOLDER in each]
    first = settings[0] if settings else {}
    return {
        name: value
        for name, value in first.items()
        if all(name in each and each[name] == value for each in settings)
    }


def find_stands(
    runs: Sequence[Run], find_states: Callable[[], HistoryLookup | None]
) -> dict[str, StatePosition]:
    """Return the positions of the states that runs began and ended in, by digest.

    Args:
        runs: The runs.
        find_states: As for ``write``.
    """
    moves = [states for run in runs for states in (run.before, run.after)]
    named = {digest: name for states in moves for name, digest in states.items()}
    found: dict[str, StatePosition] = {}
    for digest, name in named.items():
        with suppress(StateError):  # of another version of a library
            found[digest] = _stand(name, digest, find_states())
    return {digest: stand for digest, stand in found.items() if stand != StatePosition()}


def _stand(name: str, digest: str, states: HistoryLookup | None) -> StatePosition:
    if states is None:
        return StatePosition()
    place = states.position(name, digest) or UNKNOWN
    known = place.seed is not None and place.seed < 1 << 63  # the limit of exact integers in JSON
    return StatePosition(place.seed if known else None, place.draws, states.is_fresh(digest))


def _cell(run: Run, settings: dict[str, Any], values: _Values) -> dict[str, Any]:
    """Return a run as JSON values, without the common settings, with values by name."""
    told: dict[str, Any] = msgspec.to_builtins(run)
    for name in _ALWAYS_THERE:
        del told[name]
    outputs = told.setdefault("outputs", {})
    for names, record, into in ((VALUES, run, told), (SHOWN, run.outputs, outputs)):
        for name in into.keys() & {*names}:
            into[name] = each_value(getattr(record, name), values.name)
    told["settings"] = {n: v for n, v in run.settings.items() if n not in settings}
    return told
