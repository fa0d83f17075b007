"""The table of runs: a run into it, and runs out of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from ipytorchseed.ledger.codec import decode_run, encode_text, read_payload

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from ipytorchseed.ledger.codec import Payload, Row
    from ipytorchseed.ledger.records import Run
    from ipytorchseed.ledger.things import Things

LATEST = 2**62
"""Above every number."""

Wanted = Mapping[str, "str | int | None"]
"""What columns must be: names as such, not their numbers."""

_COLUMNS = "id, notebook, kernel, cell, execution_count, started, seconds, status, payload"

_INSERT = f"INSERT INTO runs ({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?)"  # noqa: S608

DROPPED = "newest run dropped"
"""The fact that says which numbers were given before, where no run tells it any more."""


class Found(Struct, frozen=True):
    """A row that was asked for.

    Attributes:
        id: The run's number.
        run: The run; None where its bytes are damaged: ``verify`` tells of it, others go on.
    """

    id: int
    run: Run | None


def newest(connection: sqlite3.Connection) -> int:
    """Return the largest number that a run has had, also one that was dropped since."""
    query = "SELECT max(coalesce((SELECT max(id) FROM runs), 0), coalesce("
    query += "(SELECT value FROM facts WHERE name = ?), 0))"
    return int(connection.execute(query, (DROPPED,)).fetchone()[0])


def insert(
    connection: sqlite3.Connection, number: int, run: Run, things: Sequence[int], payload: bytes
) -> None:
    """Keep a run whose things are kept, under a number that is larger than all before."""
    row = (number, *things[:3], run.execution_count, run.started, run.seconds, run.status, payload)
    connection.execute(_INSERT, row)


def conditions(
    connection: sqlite3.Connection, things: Things, wanted: Wanted
) -> tuple[str, list[int]] | None:
    """Return SQL that asks for columns by what they stand for, with its values.

    Args:
        connection: Where they are asked for.
        things: Knows names by their numbers.
        wanted: What ``notebook``, ``cell``, ``kernel`` and ``execution_count`` must be; None for
            whatever it is.

    Returns:
        The conditions, each with an ``AND`` after it; None where no run can fulfil them.
    """
    columns = {column: each for column, each in wanted.items() if each is not None}
    numbers = [
        things.find(connection, encode_text(each)) if isinstance(each, str) else each
        for each in columns.values()
    ]
    if None in numbers:
        return None
    # The indices that begin with the notebook would have to be sorted; in the table itself its
    # runs are in their order already. A plus keeps SQLite from taking an index.
    plus = "+" if [*columns] == ["notebook"] else ""
    where = "".join(f"{plus}{column} = ? AND " for column in columns)
    return where, [number for number in numbers if number is not None]


class Question(Struct, frozen=True):
    """Which runs are asked for.

    Attributes:
        wanted: As for ``conditions``.
        where: A further condition, and the order, in SQL.
        values: For its question marks.
        limit: At most so many.
    """

    wanted: Wanted
    where: str
    values: Sequence[int]
    limit: int


def select(connection: sqlite3.Connection, things: Things, question: Question) -> list[Found]:
    """Return the runs that are asked for."""
    possible = conditions(connection, things, question.wanted)
    if possible is None:
        return []
    where, values = possible
    query = f"SELECT {_COLUMNS} FROM runs WHERE {where} {question.where} LIMIT ?"  # noqa: S608
    asked = [*values, *question.values, question.limit]
    rows: list[Row] = connection.execute(query, asked).fetchall()
    read = [_read(row) for row in rows]
    numbers = {number for row in rows for number in row[1:4]}
    numbers.update(*(payload.things for payload in read if payload))
    get = things.reader(connection, numbers)
    return [
        Found(row[0], decode_run(row, payload.fields, get) if payload else None)
        for row, payload in zip(rows, read, strict=True)
    ]


def _read(row: Row) -> Payload | None:
    try:
        return read_payload(row[-1])
    except ValueError:
        return None
