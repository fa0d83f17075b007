"""The tables of applied seeds and of states saved by name."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from msgspec import Struct

from ipytorchseed.ledger import blobs
from ipytorchseed.ledger.compression import compress
from ipytorchseed.ledger.encoding import encode, key_of, key_of_name, readable
from ipytorchseed.ledger.records import Moment


class SeedEntry(Struct, frozen=True):
    """A seed that we applied.

    Attributes:
        seed: From 0 to 2**32-1.
        how: By which command: ``now``, ``each``, ``new`` or ``scope``; or by which function of
            ours in a cell: ``call`` or ``block``.
        when: In seconds since 1970, UTC.
        notebook: The identifier of the notebook.
        kernel: A name of the kernel's process.
        execution_count: The number in ``In[...]`` of the run that asked for it, or None.
        cell: The identifier of the cell that asked for it, or None.
    """

    seed: int
    how: str
    when: Moment
    notebook: str
    kernel: str
    execution_count: int | None = None
    cell: str | None = None


def put_seed(connection: sqlite3.Connection, entry: SeedEntry) -> int:
    """Store an entry; return its number."""
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
    most = -1 if limit is None else limit  # SQLite's value for no limit
    query = f"SELECT record FROM seeds WHERE {where} ORDER BY id DESC LIMIT ?"  # noqa: S608 -- ours
    rows = connection.execute(query, [*values, most])
    return [*readable(rows, SeedEntry)][::-1]


class Save(Struct, frozen=True):
    """States that the user saved under a name.

    Attributes:
        notebook: The identifier of the notebook.
        name: As the user gave it.
        when: In seconds since 1970, UTC.
        states: The key of each source's state, by the source's name.
    """

    notebook: str
    name: str
    when: Moment
    states: dict[str, int]


def put_save(
    connection: blobs.Connection, notebook: str, name: str, when: float, states: Mapping[str, bytes]
) -> None:
    """Save states by source under a name, and replace what was saved under it before."""
    where = key_of_name(notebook), key_of_name(name)
    for (number,) in connection.execute(
        "SELECT id FROM saves WHERE notebook = ? AND name = ?", where
    ).fetchall():
        connection.execute("DELETE FROM saves WHERE id = ?", (number,))
        connection.execute("DELETE FROM saved WHERE save = ?", (number,))
    save = Save(notebook, name, when, {each: key_of(state) for each, state in states.items()})
    done = connection.execute(
        "INSERT INTO saves (notebook, name, record) VALUES (?,?,?)",
        (*where, compress(encode(save))),
    )
    contents = {key_of(state): state for state in states.values()}
    blobs.put(connection, blobs.STATE, contents, 0, when)
    connection.executemany(
        "INSERT INTO saved (blob, save) VALUES (?, ?)", [(key, done.lastrowid) for key in contents]
    )


def find_save(connection: sqlite3.Connection, notebook: str, name: str) -> dict[str, bytes] | None:
    """Return the state of each source under a name, or None."""
    query = "SELECT record FROM saves WHERE notebook = ? AND name = ?"
    rows = connection.execute(query, (key_of_name(notebook), key_of_name(name)))
    save = next(readable(rows, Save), None)
    if save is None:
        return None
    found = blobs.load(connection, save.states.values())
    return {source: found[key] for source, key in save.states.items() if key in found}


def names_of_saves(connection: sqlite3.Connection, notebook: str) -> dict[str, float]:
    """Return when each name of a notebook was saved, the oldest first."""
    query = "SELECT record FROM saves WHERE notebook = ? ORDER BY id"
    rows = connection.execute(query, (key_of_name(notebook),))
    return {save.name: save.when for save in readable(rows, Save)}
