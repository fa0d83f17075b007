"""The table of findings: what experiments showed about a pair of runs."""

from __future__ import annotations

import sqlite3

from ipytorchseed.ledger.compression import compress
from ipytorchseed.ledger.encoding import encode, readable
from ipytorchseed.ledger.records import Findings


def put_findings(
    connection: sqlite3.Connection, run: int, against: int, findings: Findings
) -> None:
    """Store the findings about a pair of runs, and replace earlier ones."""
    row = (run, against, compress(encode(findings)))
    connection.execute(
        "INSERT OR REPLACE INTO findings (run, against, record) VALUES (?, ?, ?)", row
    )


def find_findings(connection: sqlite3.Connection, run: int, against: int) -> Findings | None:
    """Return the findings about a pair of runs; None if nothing readable is stored."""
    rows = connection.execute(
        "SELECT record FROM findings WHERE run = ? AND against = ?", (run, against)
    )
    return next(readable(rows, Findings), None)
