"""Writes runs as a receipt."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
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

# Longer series are left out, and so are the named parts of a value that has more of them.
_SERIES, _PARTS = 256, 128

# Fields of a run that have no content in a receipt.
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
        runs: A run of each cell, in the order in which they happened.
        find_states: Returns a lookup for the states of runs. It is called once for each state, so
            that each state has its own search budget.
        places: The folders and the user of this machine.
    """
    hidden = [conceal(run, places) for run in runs]
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
    return msgspec.json.encode(each_text(msgspec.to_builtins(told), printable)) + b"\n"


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
    """Return the positions of the states in which runs began and ended, by digest.

    Args:
        runs: The runs.
        find_states: As for ``write``.
    """
    moves = [states for run in runs for states in (run.before, run.after)]
    named = {digest: name for states in moves for name, digest in states.items()}
    found: dict[str, StatePosition] = {}
    for digest, name in named.items():
        with suppress(StateError):  # another version of a library wrote the state
            found[digest] = _find_position(name, digest, find_states())
    return {digest: each for digest, each in found.items() if each != StatePosition()}


def _find_position(name: str, digest: str, states: HistoryLookup | None) -> StatePosition:
    if states is None:
        return StatePosition()
    place = states.position(name, digest) or UNKNOWN
    known = place.seed is not None and place.seed < 1 << 63  # the limit of exact integers in JSON
    return StatePosition(place.seed if known else None, place.draws, states.is_fresh(digest))


def _cell(run: Run, settings: dict[str, Any], values: dict[str, Fingerprint]) -> dict[str, Any]:
    """Return a run as JSON values.

    Common settings are left out. Fingerprints are added to ``values`` and replaced by their names.
    """
    told: dict[str, Any] = msgspec.to_builtins(run)
    for name in _ALWAYS_THERE:
        del told[name]
    outputs = told.setdefault("outputs", {})
    for names, record, into in ((VALUES, run, told), (SHOWN, run.outputs, outputs)):
        for name in into.keys() & {*names}:
            into[name] = each_value(getattr(record, name), partial(_add, values=values))
    told["settings"] = {n: v for n, v in run.settings.items() if n not in settings}
    return told
