"""The log of seeds: which were applied when, by which cell, across kernel restarts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from ipytorchseed.ledger.compression import compress
from ipytorchseed.ledger.encoding import encode, key_of_name, readable

if TYPE_CHECKING:
    import sqlite3


class SeedEntry(Struct, frozen=True):
    """One seed that a command of ours applied.

    Attributes:
        seed: From 0 to 2**32-1.
        how: ``now``, ``each``, ``new`` or ``scope``.
        when: In seconds since 1970, UTC.
        notebook: What the notebook is known by.
        kernel: A name of the kernel's process.
        execution_count: The number in ``In[...]`` of the run that asked for it, or None.
        cell: What the cell is known by that asked for it, or None.
    """

    seed: int
    how: str
    when: float
    notebook: str
    kernel: str
    execution_count: int | None = None
    cell: str | None = None


def put_seed(connection: sqlite3.Connection, entry: SeedEntry) -> int:
    """Keep an entry; return its number."""
    done = connection.execute(
        "INSERT INTO seeds (notebook, applied, record) VALUES (?,?,?)",
        (key_of_name(entry.notebook), entry.when, compress(encode(entry))),
    )
    return int(done.lastrowid or 0)


def find_seeds(
    connection: sqlite3.Connection, notebook: str | None, limit: int | None
) -> list[SeedEntry]:
    """Return the last entries, the oldest of them first."""
    where, values = ("1", []) if notebook is None else ("notebook = ?", [key_of_name(notebook)])
    most = -1 if limit is None else limit  # none, to SQLite
    query = f"SELECT record FROM seeds WHERE {where} ORDER BY id DESC LIMIT ?"  # noqa: S608 -- ours
    rows = connection.execute(query, [*values, most])
    return [*readable(rows, SeedEntry)][::-1]
