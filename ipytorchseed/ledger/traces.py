"""The table of traces: what was seen of a run's operations, in and out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from msgspec.structs import astuple

from ipytorchseed.ledger.codec import to_json
from ipytorchseed.ledger.packing import pack, unpack
from ipytorchseed.ledger.records import Draw, Operation, Trace

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

_MOST = 1_000
"""Draws, and operations, that are kept of one trace."""


def encode_trace(trace: Trace) -> bytes:
    """Write a trace; of very many draws or operations, the first ones."""
    fields = {
        "n": (trace.checked, trace.traced),
        "op": [astuple(each) for each in trace.operations[:_MOST]],
        "draw": [astuple(each) for each in trace.draws[:_MOST]],
        "note": trace.notes,
    }
    return pack(to_json({name: each for name, each in fields.items() if each}))


def decode_trace(data: bytes) -> Trace:
    """Read what ``encode_trace`` wrote.

    Raises:
        ValueError: It is not from there.
    """
    fields = json.loads(unpack(data))
    checked, traced = fields["n"]
    return Trace(
        checked,
        traced,
        tuple(Operation(*each) for each in fields.get("op", ())),
        tuple(Draw(*each) for each in fields.get("draw", ())),
        tuple(fields.get("note", ())),
    )


def put_trace(connection: sqlite3.Connection, run: int, trace: Trace) -> None:
    """Keep a trace of a run."""
    connection.execute("INSERT INTO traces (run, data) VALUES (?, ?)", (run, encode_trace(trace)))


def find_traces(connection: sqlite3.Connection, runs: Iterable[int]) -> dict[int, list[Trace]]:
    """Return the traces of runs, by run, the first one first; damaged ones are passed over."""
    found: dict[int, list[Trace]] = {}
    there = "SELECT 1 FROM sqlite_master WHERE name = 'traces'"
    if connection.execute(there).fetchone() is None:  # an older file, which is only looked at
        return found
    for run in runs:
        query = "SELECT data FROM traces WHERE run = ? ORDER BY id"
        for (data,) in connection.execute(query, (run,)):
            try:
                found.setdefault(run, []).append(decode_trace(data))
            except (ValueError, KeyError, TypeError):
                continue
    return found
