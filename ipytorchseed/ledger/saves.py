"""States that the user gave a name, per notebook, kept until the name is used again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ipytorchseed.ledger.codec import decode_thing, encode_text, to_json
from ipytorchseed.ledger.packing import pack, unpack
from ipytorchseed.ledger.things import key_of
from ipytorchseed.rng.source import digest

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping


def put_save(
    connection: sqlite3.Connection,
    notebook: str,
    name: str,
    when: float,
    states: Mapping[str, bytes],
) -> None:
    """Keep states, by source, under a name; what it named before is dropped."""
    where = _key(notebook), encode_text(name)
    row = connection.execute(
        "SELECT id FROM saves WHERE notebook = ? AND name = ?", where
    ).fetchone()
    if row:
        connection.execute("DELETE FROM saves WHERE id = ?", row)
        connection.execute("DELETE FROM saved_states WHERE save = ?", row)
    digests = {source: digest(state) for source, state in states.items()}
    data = pack(to_json([notebook, when, digests]))
    done = connection.execute(
        "INSERT INTO saves (notebook, name, data) VALUES (?,?,?)", (*where, data)
    )
    unique = {digests[source]: state for source, state in states.items()}
    connection.executemany(
        "INSERT INTO saved_states (save, digest, data) VALUES (?,?,?)",
        [(done.lastrowid, each, pack(state)) for each, state in unique.items()],
    )


def find_save(connection: sqlite3.Connection, notebook: str, name: str) -> dict[str, bytes] | None:
    """Return the state of each source under a name, or None where nothing has that name."""
    row = connection.execute(
        "SELECT id, data FROM saves WHERE notebook = ? AND name = ?",
        (_key(notebook), encode_text(name)),
    ).fetchone()
    if row is None:
        return None
    _, _, digests = json.loads(unpack(row[1]))
    query = "SELECT digest, data FROM saved_states WHERE save = ?"
    states = {each: unpack(data) for each, data in connection.execute(query, row[:1])}
    return {source: states[each] for source, each in digests.items() if each in states}


def names_of_saves(connection: sqlite3.Connection, notebook: str) -> dict[str, float]:
    """Return when each name of a notebook was given, the oldest first."""
    query = "SELECT name, data FROM saves WHERE notebook = ? ORDER BY id"
    return {
        decode_thing(name): json.loads(unpack(data))[1]
        for name, data in connection.execute(query, (_key(notebook),))
    }


def _key(notebook: str) -> int:
    return key_of(encode_text(notebook))
