"""What is kept once for all runs and found by its content: names, cell texts, settings, values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xxhash import xxh3_64_intdigest

from ipytorchseed.ledger.codec import decode_thing
from ipytorchseed.ledger.packing import pack, unpack

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Sequence

STRIDE = 256
"""A thing's ``last`` is brought up to date when it lags this many runs behind, not at each run.

So the last run that refers to a thing has a number below ``last + STRIDE``.
"""

BATCH = 100
"""How many are asked for in one statement."""

_MOST = 20_000
"""Things whose number is remembered, about 2 MB."""

_MOST_READ, _SHORT = 2_000, 1_024
"""Things whose content is remembered, and how many packed bytes such a one has at most."""


def key_of(data: bytes) -> int:
    """Return the hash that a thing is found by, as SQLite's signed integer."""
    return int(xxh3_64_intdigest(data)) - 2**63


def marks(many: Sequence[object]) -> str:
    """Return as many ``?`` as there are values, for ``IN (...)``."""
    return ",".join("?" * len(many))


class Things:
    """Remembers which things the ledger holds, so that it is seldom asked."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, int]] = {}  # by key: number, last
        self._read: dict[int, Any] = {}  # by number

    def forget(self) -> None:
        """Ask the ledger again: somebody else may have written to it."""
        self._known.clear()
        self._read.clear()

    def intern(
        self, connection: sqlite3.Connection, things: Sequence[bytes], newest: int
    ) -> list[int]:
        """Return each thing's number; those that are new are kept.

        Args:
            connection: In a transaction.
            things: Their content.
            newest: The newest run's number.
        """
        known = self._known
        if len(known) > _MOST:
            known.clear()
        keys = [key_of(each) for each in things]
        unknown = [key for key in {*keys} if key not in known]
        for at in range(0, len(unknown), BATCH):
            some = unknown[at : at + BATCH]
            query = f"SELECT key, id, last FROM things WHERE key IN ({marks(some)})"  # noqa: S608
            for key, number, last in connection.execute(query, some):
                known[key] = number, last
        numbers = []
        for key, content in zip(keys, things, strict=True):
            if key not in known:
                row = (key, newest, pack(content))
                done = connection.execute(
                    "INSERT INTO things (key, last, data) VALUES (?,?,?)", row
                )
                known[key] = int(done.lastrowid or 0), newest
            number, last = known[key]
            if newest - last >= STRIDE - 1:  # the run to come is newest + 1
                connection.execute("UPDATE things SET last = ? WHERE id = ?", (newest, number))
                known[key] = number, newest
            numbers.append(number)
        return numbers

    def find(self, connection: sqlite3.Connection, thing: bytes) -> int | None:
        """Return a thing's number, or None where the ledger does not hold it."""
        query = "SELECT id FROM things WHERE key = ?"
        row = connection.execute(query, (key_of(thing),)).fetchone()
        return int(row[0]) if row else None

    def reader(
        self, connection: sqlite3.Connection, wanted: Iterable[int]
    ) -> Callable[[int, Any], Any]:
        """Return what gives a thing, read, by its number; or its second argument.

        Args:
            connection: Where they are asked for, now and all at once.
            wanted: All numbers that will be asked for.
        """
        if len(self._read) > _MOST_READ:
            self._read.clear()
        have = self._read
        missing = [number for number in {*wanted} if number not in have]
        found = {}
        for at in range(0, len(missing), BATCH):
            some = missing[at : at + BATCH]
            query = f"SELECT id, data FROM things WHERE id IN ({marks(some)})"  # noqa: S608
            for number, data in connection.execute(query, some):
                found[number] = decode_thing(unpack(data))
                if len(data) <= _SHORT:
                    have[number] = found[number]

        def get(number: int, otherwise: Any) -> Any:  # noqa: ANN401 -- as `decode_thing` gives it
            if number in found:
                return found[number]
            return have.get(number, otherwise)

        return get
