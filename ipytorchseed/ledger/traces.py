"""The table of traces: the recorded operations of runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from msgspec.structs import replace

from ipytorchseed.ledger.compression import compress
from ipytorchseed.ledger.encoding import encode, readable
from ipytorchseed.ledger.records import Trace

# The most draws and operations that are stored of one trace.
_MOST = 1_000


def put_trace(connection: sqlite3.Connection, run: int, trace: Trace) -> None:
    """Store a trace of a run; only the first draws or operations if there are many."""
    short = replace(trace, operations=trace.operations[:_MOST], draws=trace.draws[:_MOST])
    row = (run, compress(encode(short)))
    connection.execute("INSERT INTO traces (run, record) VALUES (?, ?)", row)


def find_traces(connection: sqlite3.Connection, runs: Iterable[int]) -> dict[int, list[Trace]]:
    """Return the traces of runs, by run, oldest first, without damaged ones."""
    query = "SELECT record FROM traces WHERE run = ? ORDER BY id"
    found = {run: [*readable(connection.execute(query, (run,)), Trace)] for run in runs}
    return {run: traces for run, traces in found.items() if traces}
