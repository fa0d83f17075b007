"""Records of applied seeds, and of states that the user saved under a name."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from msgspec import Struct

from ipytorchseed.ledger import blobs
from ipytorchseed.ledger.encoding import key_of, key_of_name
from ipytorchseed.ledger.records import Moment
from ipytorchseed.ledger.tables import insert, select


class SeedEntry(Struct, frozen=True):
    """A seed that we applied.

    Attributes:
        seed: The seed, from 0 to 2**32-1.
        how: ``now``, ``each``, ``new`` or ``scope`` if a command applied it; ``call`` or ``block``
            if a cell called our functions.
        when: The time, in seconds since 1970, UTC.
        notebook: The identifier of the notebook.
        kernel: A unique name of the kernel's process.
        execution_count: The number in ``In[...]`` of the run that applied it, or None.
        cell: The identifier of the cell that applied it, or None.
    """

    seed: int
    how: str
    when: Moment
    notebook: str
    kernel: str
    execution_count: int | None = None
    cell: str | None = None


class Save(Struct, frozen=True):
    """States that the user saved under a name.

    Attributes:
        notebook: The identifier of the notebook.
        name: The name.
        when: The time, in seconds since 1970, UTC.
        states: The key of each source's state, by the source's name.
    """

    notebook: str
    name: str
    when: Moment
    states: dict[str, int]


def put_save(
    connection: blobs.Connection, notebook: str, name: str, when: float, states: Mapping[str, bytes]
) -> None:
    """Save the states of sources under a name, replacing states saved before.

    Args:
        connection: A connection in a transaction.
        notebook: The identifier of the notebook.
        name: The name.
        when: The time, in seconds since 1970, UTC.
        states: The full state of each source, by the source's name.
    """
    save = Save(notebook, name, when, {each: key_of(state) for each, state in states.items()})
    where = {"notebook": key_of_name(notebook), "name": key_of_name(name)}
    number = insert(connection, "saves", save, **where)
    connection.execute("DELETE FROM saved WHERE save NOT IN (SELECT id FROM saves)")
    contents = {key_of(state): state for state in states.values()}
    blobs.put(connection, blobs.STATE, contents, 0, when)
    rows = [(key, number) for key in contents]
    connection.executemany("INSERT INTO saved (blob, save) VALUES (?, ?)", rows)


def find_save(connection: sqlite3.Connection, notebook: str, name: str) -> dict[str, bytes] | None:
    """Return the states saved under a name, by source; None if there is no such name."""
    where = {"notebook": key_of_name(notebook), "name": key_of_name(name)}
    for save in select(connection, "saves", Save, **where):
        found = blobs.load(connection, save.states.values())
        return {source: found[key] for source, key in save.states.items() if key in found}
    return None
