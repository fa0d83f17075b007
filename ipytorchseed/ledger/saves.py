"""States that the user gave a name, per notebook, kept until the name is used again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from ipytorchseed.ledger import blobs
from ipytorchseed.ledger.compression import compress
from ipytorchseed.ledger.encoding import encode, key_of, key_of_name, readable

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping


class Save(Struct, frozen=True):
    """States under a name.

    Attributes:
        notebook: What the notebook is known by.
        name: As the user gave it.
        when: In seconds since 1970, UTC.
        states: The key of each source's state, by the source's name.
    """

    notebook: str
    name: str
    when: float
    states: dict[str, int]


def put_save(
    connection: sqlite3.Connection,
    notebook: str,
    name: str,
    when: float,
    states: Mapping[str, bytes],
) -> None:
    """Keep states, by source, under a name; what it named before is dropped."""
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
    """Return the state of each source under a name, or None where nothing has that name."""
    query = "SELECT record FROM saves WHERE notebook = ? AND name = ?"
    rows = connection.execute(query, (key_of_name(notebook), key_of_name(name)))
    save = next(readable(rows, Save), None)
    if save is None:
        return None
    found = blobs.load(connection, save.states.values())
    return {source: found[key] for source, key in save.states.items() if key in found}


def names_of_saves(connection: sqlite3.Connection, notebook: str) -> dict[str, float]:
    """Return when each name of a notebook was given, the oldest first."""
    query = "SELECT record FROM saves WHERE notebook = ? ORDER BY id"
    rows = connection.execute(query, (key_of_name(notebook),))
    return {save.name: save.when for save in readable(rows, Save)}
