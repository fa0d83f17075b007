"""The table of traces: what was seen of the operations of runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from msgspec.structs import replace

from ipytorchseed.ledger.compression import compress
from ipytorchseed.ledger.encoding import encode, readable
from ipytorchseed.ledger.records import Trace

_MOST = 1_000
"""Draws, and operations, that are kept of one trace."""


def put_trace(connection: sqlite3.Connection, run: int, trace: Trace) -> None:
    """Keep a trace of a run; of very many draws or operations, the first ones."""
    short = replace(trace, operations=trace.operations[:_MOST], draws=trace.draws[:_MOST])
    row = (run, compress(encode(short)))
    connection.execute("INSERT INTO traces (run, record) VALUES (?, ?)", row)


def find_traces(connection: sqlite3.Connection, runs: Iterable[int]) -> dict[int, list[Trace]]:
    """Return the traces of runs, by run, the first one first; damaged ones are passed over."""
    query = "SELECT record FROM traces WHERE run = ? ORDER BY id"
    found = {run: [*readable(connection.execute(query, (run,)), Trace)] for run in runs}
    return {run: traces for run, traces in found.items() if traces}
