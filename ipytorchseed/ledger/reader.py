"""Reads the ledger: runs one by one or in sequence, states, seeds and traces."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.ledger import blobs, queries
from ipytorchseed.ledger.database import Database
from ipytorchseed.ledger.encoding import key_of_digest, key_of_name
from ipytorchseed.ledger.findings import find_findings
from ipytorchseed.ledger.prune import used_bytes
from ipytorchseed.ledger.queries import LATEST, Query
from ipytorchseed.ledger.records import Findings, Run, Trace
from ipytorchseed.ledger.seeds import SeedEntry, find_save, find_seeds, names_of_saves
from ipytorchseed.ledger.traces import find_traces
from ipytorchseed.ledger.verify import verify

# The most runs of one text that are searched for the cells that had it.
_ALIKE = 500

# Runs read at a time if many are selected, so that memory does not grow with the ledger.
_PAGE = 64


class Counts(Struct, frozen=True):
    """The amount of content in the ledger.

    Attributes:
        runs: Runs.
        states: Full states.
        values: Values, texts and settings, each once.
        bytes: The bytes of everything.
    """

    runs: int
    states: int
    values: int
    bytes: int


class Reader:
    """The part of ``Ledger`` that only reads.

    Args:
        database: The database.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def run(self, number: int) -> Run | None:
        """Return the run with a number, or None."""
        return self._first(queries.by_number(number))

    def find(self, notebook: str, execution_count: int, kernel: str | None = None) -> Run | None:
        """Return the latest run that was ``In[execution_count]``, or None.

        Args:
            notebook: Of this notebook.
            execution_count: The number in ``In[...]``.
            kernel: The run of this kernel is preferred to those of earlier ones.
        """
        query = Query(notebook=notebook, execution_count=execution_count)
        mine = None if kernel is None else self._first(replace(query, kernel=kernel))
        return mine or self._first(query)

    def last_run(self, notebook: str, cell: str, *, before_id: int | None = None) -> Run | None:
        """Return the latest run of a cell, or the latest before a number; or None."""
        return next(self.runs(notebook, cell, before_id=before_id, limit=1), None)

    def cells_with_text(self, notebook: str, code: str, kernel: str) -> list[str]:
        """Return the cells that had a text in the last other kernel that ran it.

        Args:
            notebook: Of this notebook.
            code: The text, named as ``Run.code`` does.
            kernel: The kernel that asks, which is skipped.
        """
        query = Query(notebook=notebook, code=code, limit=_ALIKE)
        sql, values = query.sql("id, kernel, cell")
        rows = self._database.read(lambda connection: connection.execute(sql, values).fetchall())
        others = [row for row in rows if row[1] != key_of_name(kernel)]
        cells = {cell: number for number, last, cell in others if last == others[0][1]}
        return [run.cell for number in cells.values() if (run := self.run(number)) is not None]

    def runs(
        self,
        notebook: str | None = None,
        cell: str | None = None,
        kernel: str | None = None,
        *,
        before_id: int | None = None,
        limit: int | None = None,
    ) -> Iterator[Run]:
        """Iterate over runs, the newest first, with a few in memory at a time.

        Args:
            notebook: Only of this one.
            cell: Only of this one.
            kernel: Only of this one.
            before_id: Only with smaller numbers.
            limit: At most so many.
        """
        up_to = LATEST if before_id is None else before_id - 1
        query = Query(notebook=notebook, cell=cell, kernel=kernel, up_to=up_to)
        size = _PAGE if limit is None else min(limit, _PAGE)
        return itertools.islice(self._pages(query, size), limit)

    def runs_between(self, notebook: str, after_id: int, up_to_id: int) -> Iterator[Run]:
        """Iterate over a notebook's runs, oldest first, with few in memory at a time.

        Args:
            notebook: Of this notebook, in all its kernels.
            after_id: From the run after this one.
            up_to_id: Up to and including this run.
        """
        return self._pages(_between(notebook, after_id, up_to_id))

    def run_ids_between(self, notebook: str, after_id: int, up_to_id: int = LATEST) -> list[int]:
        """Return the numbers of the runs in ``runs_between``, without reading them."""
        query = _between(notebook, after_id, up_to_id)
        return self._database.read(lambda connection: queries.ids(connection, query))

    def notebooks(self) -> list[str]:
        """Return the names of the notebooks that the ledger has runs of."""
        return self._database.read(queries.notebooks)

    def counts(self) -> Counts:
        """Return the amount of content."""

        def do(connection: sqlite3.Connection) -> Counts:
            (runs,) = connection.execute("SELECT count(*) FROM runs").fetchone()
            (states,), (values,) = (
                connection.execute("SELECT count(*) FROM blobs WHERE kind = ?", (kind,)).fetchone()
                for kind in (blobs.STATE, blobs.PART)
            )
            return Counts(runs, states, values, used_bytes(connection))

        return self._database.read(do)

    def states(self, digests: Iterable[str]) -> dict[str, bytes]:
        """Return full states by digest, if they are stored."""
        wanted = {each: key for each in digests if (key := key_of_digest(each)) is not None}
        found = self._database.read(lambda connection: blobs.load(connection, wanted.values()))
        return {each: found[key] for each, key in wanted.items() if key in found}

    def traces(self, runs: Iterable[int]) -> dict[int, list[Trace]]:
        """Return the recorded operations of runs, by the run's number, oldest first."""
        numbers = [*runs]
        return self._database.read(lambda connection: find_traces(connection, numbers))

    def findings(self, run: int, against: int) -> Findings | None:
        """Return the findings about a pair of runs; None if there are none."""
        return self._database.read(lambda connection: find_findings(connection, run, against))

    def seeds(self, notebook: str | None = None, *, limit: int | None = None) -> list[SeedEntry]:
        """Return the last entries of the log of seeds, oldest first."""
        return self._database.read(lambda connection: find_seeds(connection, notebook, limit))

    def saved(self, notebook: str, name: str) -> dict[str, bytes] | None:
        """Return the state of each source that was saved under a name, or None."""
        return self._database.read(lambda connection: find_save(connection, notebook, name))

    def saves(self, notebook: str) -> dict[str, float]:
        """Return the names of a notebook and when each was saved, the oldest first."""
        return self._database.read(lambda connection: names_of_saves(connection, notebook))

    def verify(self) -> list[str]:
        """Check everything; return the problems, a line each."""
        return self._database.read(verify)

    def _first(self, query: Query) -> Run | None:
        return next(self._pages(query, 1), None)

    def _pages(self, query: Query, size: int = _PAGE) -> Iterator[Run]:
        """Iterate over runs, ``size`` at a time."""
        query = replace(query, limit=size)
        while found := self._select(query):
            yield from (run for _, run in found if run is not None)
            if len(found) < size:
                return
            edge = found[-1][0]
            query = replace(
                query, **({"up_to": edge - 1} if query.newest_first else {"after": edge})
            )

    def _select(self, query: Query) -> list[tuple[int, Run | None]]:
        return self._database.read(lambda connection: queries.select(connection, query))


def _between(notebook: str, after_id: int, up_to_id: int) -> Query:
    return Query(notebook=notebook, after=after_id, up_to=up_to_id, newest_first=False)
