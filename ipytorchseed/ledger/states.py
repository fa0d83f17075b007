"""The states of sources: kept once by digest, in the order of their last use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ipytorchseed.ledger.packing import pack, unpack
from ipytorchseed.ledger.things import BATCH, marks

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping

    from ipytorchseed.ledger.records import Run

SLACK = 3600.0
"""Seconds by which the last use that is noted of a state may lag behind: noting it rewrites it."""

_MOST = 20_000
"""Digests remembered, about 2 MB."""

_ABSENT = -1.0


class States:
    """Remembers which states the ledger holds, so that it is seldom asked."""

    def __init__(self) -> None:
        self._used: dict[str, float] = {}  # by digest: when last, or _ABSENT

    def forget(self) -> None:
        """Ask the ledger again: somebody else may have written to it."""
        self._used.clear()

    def holds(self, digest: str) -> bool:
        """Tell whether the ledger is known to hold a state."""
        return self._used.get(digest, _ABSENT) != _ABSENT

    def keep(
        self, connection: sqlite3.Connection, run: Run, states: Mapping[str, bytes]
    ) -> list[str]:
        """Keep the states that are new, and note the use of all that the run refers to.

        Args:
            connection: In a transaction.
            run: Refers to states by digest.
            states: Full states by digest, of those that may be new.

        Returns:
            The digests of source states that the run refers to and nobody has kept.
        """
        used = self._used
        if len(used) > _MOST:
            used.clear()
        sources = {*run.before.values(), *run.after.values()}
        digests = sources.union(
            states,
            (each.digest for each in run.generators_before.values()),
            (each.digest for each in run.generators_after.values()),
        )
        for digest in [each for each in digests if each not in used]:
            if not (digest in states and self._insert(connection, run, digest, states[digest])):
                query = "SELECT used FROM states WHERE digest = ?"
                row = connection.execute(query, (digest,)).fetchone()
                used[digest] = row[0] if row else _ABSENT
        for digest in digests:
            if used[digest] == _ABSENT:
                if digest in states:
                    self._insert(connection, run, digest, states[digest])
            elif abs(run.started - used[digest]) >= SLACK:
                connection.execute(
                    "UPDATE states SET id = (SELECT max(id) + 1 FROM states), used = ?"
                    " WHERE digest = ?",
                    (run.started, digest),
                )
                used[digest] = run.started
        return [digest for digest in sources if used[digest] == _ABSENT]

    def _insert(self, connection: sqlite3.Connection, run: Run, digest: str, state: bytes) -> bool:
        """Keep a state; return False where it is there already."""
        query = "INSERT INTO states (digest, used, data) VALUES (?,?,?) ON CONFLICT DO NOTHING"
        row = (digest, run.started, pack(state))
        if connection.execute(query, row).rowcount == 0:
            return False
        self._used[digest] = run.started
        return True


def load(connection: sqlite3.Connection, digests: Iterable[str]) -> dict[str, bytes]:
    """Return full states by digest; those that were not kept, or no more, are absent."""
    wanted = [*dict.fromkeys(digests)]
    found = {}
    for at in range(0, len(wanted), BATCH):
        some = wanted[at : at + BATCH]
        for table in ("saved_states", "states"):
            query = f"SELECT digest, data FROM {table} WHERE digest IN ({marks(some)})"  # noqa: S608
            for digest, data in connection.execute(query, some):
                found[digest] = unpack(data)
    return found
