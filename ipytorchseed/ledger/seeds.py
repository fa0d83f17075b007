"""Applied seeds, and states saved by name."""

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
    save = Save(notebook, name, when, {each: key_of(state) for each, state in states.items()})
    where = {"notebook": key_of_name(notebook), "name": key_of_name(name)}
    number = insert(connection, "saves", save, **where)
    connection.execute("DELETE FROM saved WHERE save NOT IN (SELECT id FROM saves)")
    contents = {key_of(state): state for state in states.values()}
    blobs.put(connection, blobs.STATE, contents, 0, when)
    rows = [(key, number) for key in contents]
    connection.executemany("INSERT INTO saved (blob, save) VALUES (?, ?)", rows)


def find_save(connection: sqlite3.Connection, notebook: str, name: str) -> dict[str, bytes] | None:
    """Return the state of each source under a name, or None."""
    where = {"notebook": key_of_name(notebook), "name": key_of_name(name)}
    for save in select(connection, "saves", Save, **where):
        found = blobs.load(connection, save.states.values())
        return {source: found[key] for source, key in save.states.items() if key in found}
    return None
