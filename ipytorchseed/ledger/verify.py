"""Whether the ledger holds what it says it holds."""

from __future__ import annotations

import itertools
import sqlite3
from typing import TYPE_CHECKING

from ipytorchseed.ledger.codec import Payload, decode_thing, read_payload
from ipytorchseed.ledger.packing import unpack
from ipytorchseed.ledger.prune import HORIZON
from ipytorchseed.ledger.things import BATCH, key_of, marks
from ipytorchseed.ledger.traces import decode_trace
from ipytorchseed.rng.source import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_MOST = 50
"""Findings after which it is said that there are more."""


def verify(connection: sqlite3.Connection) -> list[str]:
    """Check every page, state, thing and reference.

    Args:
        connection: In a transaction, so that all is of one moment.

    Returns:
        What is wrong, a line each; nothing where all is well.
    """
    found: list[str] = []
    for check in (_pages, _states, _things, _runs, _traces):
        try:
            found += itertools.islice(check(connection), _MOST + 1)
        except sqlite3.Error as error:
            found.append(f"unreadable: {error}")
        if len(found) > _MOST:
            return [*found[:_MOST], "... and more"]
    return found


def _pages(connection: sqlite3.Connection) -> Iterator[str]:
    for (said,) in connection.execute(f"PRAGMA integrity_check({_MOST})"):
        if said != "ok":
            yield f"pages: {said}"


def _states(connection: sqlite3.Connection) -> Iterator[str]:
    for table in ("states", "saved_states"):
        query = f"SELECT digest, data FROM {table}"  # noqa: S608 -- one of the two above
        for name, data in connection.execute(query):
            yield from _content(f"state {name}", data, digest, name)


def _things(connection: sqlite3.Connection) -> Iterator[str]:
    for number, key, data in connection.execute("SELECT id, key, data FROM things"):
        yield from _content(f"thing {number}", data, _key_of_thing, key)


def _key_of_thing(content: bytes) -> int:
    decode_thing(content)
    return key_of(content)


def _content(
    what: str, data: bytes, name: Callable[[bytes], object], expected: object
) -> Iterator[str]:
    try:
        if name(unpack(data)) != expected:
            yield f"{what}: its content is not what its digest says"
    except (ValueError, TypeError, LookupError) as error:
        yield f"{what}: {error}"


def _runs(connection: sqlite3.Connection) -> Iterator[str]:
    row = connection.execute("SELECT value FROM facts WHERE name = ?", (HORIZON,)).fetchone()
    horizon = row[0] if row else float("-inf")
    query = "SELECT id, notebook, kernel, cell, started, payload FROM runs"
    for number, *named, started, data in connection.execute(query):
        try:
            payload = read_payload(data)
        except ValueError as error:
            yield f"run {number}: {error}"
            continue
        for each in _absent(connection, "things", "id", [*named, *payload.things]):
            yield f"run {number}: thing {each} is missing"
        if started > horizon:
            for each in _absent(connection, "states", "digest", _states_of(payload)):
                yield f"run {number}: state {each} is missing"


def _traces(connection: sqlite3.Connection) -> Iterator[str]:
    for number, run, data in connection.execute("SELECT id, run, data FROM traces"):
        try:
            decode_trace(data)
        except (ValueError, TypeError, LookupError) as error:
            yield f"trace {number}: {error}"
        for each in _absent(connection, "runs", "id", [run]):
            yield f"trace {number}: its run {each} is missing"


def _states_of(payload: Payload) -> list[str]:
    fields = payload.fields
    named = {*fields.get("rng", {}).values(), *fields.get("rng2", {}).values()}
    return [*named - {None, *fields.get("no", ())}]


def _absent(
    connection: sqlite3.Connection, table: str, column: str, wanted: Sequence[object]
) -> list[object]:
    missing = dict.fromkeys(wanted)
    for at in range(0, len(wanted), BATCH):
        some = wanted[at : at + BATCH]
        query = f"SELECT {column} FROM {table} WHERE {column} IN ({marks(some)})"  # noqa: S608
        for (each,) in connection.execute(query, some):
            missing.pop(each, None)
    return [*missing]
