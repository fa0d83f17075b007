"""Finding what the ledger holds: runs one by one or many in turn, and states by digest."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.ledger import rows, states
from ipytorchseed.ledger.prune import used_bytes

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    from ipytorchseed.ledger.database import Database
    from ipytorchseed.ledger.records import Run
    from ipytorchseed.ledger.things import Things

_DOWN = "id < ? ORDER BY id DESC"

_PAGE = 64
"""Runs read at a time where many are asked for: memory does not grow with the ledger."""


class Counts(Struct, frozen=True):
    """How much the ledger holds.

    Attributes:
        runs: Runs.
        states: Full states, without those saved under a name.
        things: Values, texts and settings, each once.
        bytes: What all of it takes.
    """

    runs: int
    states: int
    things: int
    bytes: int


class Reader:
    """The part of ``Ledger`` that only reads.

    Args:
        database: Where.
        things: What runs refer to.
    """

    def __init__(self, database: Database, things: Things) -> None:
        self._database = database
        self._things = things

    def run(self, number: int) -> Run | None:
        """Return the run of that number, or None where there is none."""
        found = self._ask(rows.Question({}, "id = ?", [number], 1))
        return found[0].run if found else None

    def find(self, notebook: str, execution_count: int, kernel: str | None = None) -> Run | None:
        """Return the latest run that was ``In[execution_count]``, or None where there is none.

        Args:
            notebook: Of this notebook.
            execution_count: The number in ``In[...]``.
            kernel: This kernel's is preferred to those of earlier ones.
        """
        kernels = (None,) if kernel is None else (kernel, None)
        for each in kernels:
            wanted: rows.Wanted = {
                "notebook": notebook,
                "execution_count": execution_count,
                "kernel": each,
            }
            question = rows.Question(wanted, _DOWN, [], 1)
            for found in self._pages(question, rows.LATEST):
                return found
        return None

    def last_runs_of_cell(
        self, notebook: str, cell: str, n: int = 2, *, before_id: int | None = None
    ) -> list[Run]:
        """Return up to ``n`` runs of a cell, the newest first, or those before a number."""
        return [*self.runs(notebook, cell, before_id=before_id, limit=n)]

    def runs(
        self,
        notebook: str | None = None,
        cell: str | None = None,
        kernel: str | None = None,
        *,
        before_id: int | None = None,
        limit: int | None = None,
    ) -> Iterator[Run]:
        """Iterate over runs, the newest first, a few in memory at a time.

        Args:
            notebook: Only of this one.
            cell: Only of this one.
            kernel: Only of this one.
            before_id: Only with smaller numbers.
            limit: At most so many.
        """
        wanted = {"notebook": notebook, "cell": cell, "kernel": kernel}
        below = rows.LATEST if before_id is None else before_id
        size = _PAGE if limit is None else min(limit, _PAGE)
        return itertools.islice(self._pages(rows.Question(wanted, _DOWN, [], size), below), limit)

    def runs_between(self, notebook: str, after_id: int, up_to_id: int) -> Iterator[Run]:
        """Iterate over a notebook's runs, the oldest first, a few in memory at a time.

        Args:
            notebook: Of this notebook, in all its kernels.
            after_id: From the run after this one.
            up_to_id: To this run, with it.
        """
        wanted = {"notebook": notebook}
        where = "id <= ? AND id > ? ORDER BY id"
        return self._pages(rows.Question(wanted, where, [up_to_id], _PAGE), after_id)

    def run_ids_between(self, notebook: str, after_id: int, up_to_id: int) -> list[int]:
        """Return the numbers of the runs that ``runs_between`` gives, without reading them."""

        def do(connection: sqlite3.Connection) -> list[int]:
            possible = rows.conditions(connection, self._things, {"notebook": notebook})
            if possible is None:
                return []
            query = f"SELECT id FROM runs WHERE {possible[0]} id > ? AND id <= ? ORDER BY id"  # noqa: S608 -- ours
            found = connection.execute(query, [*possible[1], after_id, up_to_id])
            return [number for (number,) in found]

        return self._database.read(do)

    def notebooks(self) -> list[str]:
        """Return what the notebooks are known by that the ledger has runs of."""
        query = """
            WITH RECURSIVE each(n) AS (
                SELECT min(notebook) FROM runs
                UNION ALL
                SELECT (SELECT min(notebook) FROM runs WHERE notebook > n) FROM each WHERE n >= 0)
            SELECT n FROM each WHERE n >= 0"""

        def do(connection: sqlite3.Connection) -> list[str]:
            numbers = [number for (number,) in connection.execute(query)]
            get = self._things.reader(connection, numbers)
            return sorted(get(number, "") for number in numbers)

        return self._database.read(do)

    def counts(self) -> Counts:
        """Return how much there is."""

        def do(connection: sqlite3.Connection) -> Counts:
            runs, states, things = (
                connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608
                for table in ("runs", "states", "things")
            )
            return Counts(runs, states, things, used_bytes(connection))

        return self._database.read(do)

    def states(self, digests: Iterable[str]) -> dict[str, bytes]:
        """Return full states by digest; those never kept, or pruned since, are absent."""
        wanted = [*digests]
        return self._database.read(lambda connection: states.load(connection, wanted))

    def states_of_run(self, run: Run, *, after: bool = False) -> dict[str, bytes]:
        """Return the full state of each source when a run began, or ``after`` it ended.

        Sources whose state was never kept, or was pruned since, are absent.
        """
        digests = run.after if after else run.before
        found = self.states(digests.values())
        return {name: found[digest] for name, digest in digests.items() if digest in found}

    def _pages(self, question: rows.Question, edge: int) -> Iterator[Run]:
        """Iterate page by page; the last value that SQL asks for is where a page begins."""
        while True:
            found = self._ask(replace(question, values=[*question.values, edge]))
            for each in found:
                if each.run is not None:
                    yield each.run
            if len(found) < question.limit:
                return
            edge = found[-1].id

    def _ask(self, question: rows.Question) -> list[rows.Found]:
        return self._database.read(
            lambda connection: rows.select(connection, self._things, question)
        )
