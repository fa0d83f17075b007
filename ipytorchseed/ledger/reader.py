"""Reads runs, states, traces, findings and seeds from the ledger."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.ledger import blobs, queries
from ipytorchseed.ledger.database import Database
from ipytorchseed.ledger.encoding import key_of_digest, key_of_name
from ipytorchseed.ledger.prune import used_bytes
from ipytorchseed.ledger.queries import LATEST, Query, select_records
from ipytorchseed.ledger.records import UNDONE, Findings, Run, Save, SeedEntry, Trace
from ipytorchseed.ledger.verify import verify

# The maximum number of runs to search for cells with the same text.
_ALIKE = 500

# The maximum number of runs to read at a time, which limits memory, and the factor by which this
# number grows from 1.
_PAGE, _GROWTH = 64, 4


class Counts(Struct, frozen=True):
    """The amount of content in the ledger.

    Attributes:
        runs: The number of runs.
        states: The number of full states.
        values: The number of different values, texts and settings.
        bytes: The size of all content in bytes.
    """

    runs: int
    states: int
    values: int
    bytes: int


class Reader:
    """The part of ``Ledger`` that only reads.

    Args:
        database: The database of the ledger.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def run(self, number: int) -> Run | None:
        """Return the run with a number, or None."""
        return self._first(queries.by_number(number))

    def find(self, notebook: str, execution_count: int, kernel: str | None = None) -> Run | None:
        """Return the latest run with a number in ``In[...]``, or None.

        Args:
            notebook: The notebook.
            execution_count: The number in ``In[...]``.
            kernel: The kernel to search first. If it has no such run, all kernels are searched.
        """
        query = Query(notebook=notebook, execution_count=execution_count)
        mine = None if kernel is None else self._first(replace(query, kernel=kernel))
        return mine or self._first(query)

    def last_run(
        self, notebook: str, cell: str, kernel: str | None = None, *, before_id: int | None = None
    ) -> Run | None:
        """Return the latest run of a cell that was not undone, or None.

        Args:
            notebook: The notebook.
            cell: The cell.
            kernel: Only runs of this kernel.
            before_id: Only runs with a smaller number in the ledger.
        """
        runs = self.runs(notebook, cell, kernel, before_id=before_id, undone=False)
        return next(runs, None)

    def cells_with_text(self, notebook: str, code: str, kernel: str) -> list[str]:
        """Return the cells that had a given text in an earlier kernel.

        Of the kernels that ran the text, only the latest one is searched.

        Args:
            notebook: The notebook.
            code: The ``Run.code`` of the text.
            kernel: The current kernel, which is skipped.
        """
        query = Query(notebook=notebook, code=code, limit=_ALIKE)
        sql, values = query.sql("id, kernel, cell")
        rows = self._database.read(lambda connection: connection.execute(sql, values).fetchall())
        others = [row for row in rows if row[1] != key_of_name(kernel)]
        cells = {cell: number for number, last, cell in others if last == others[0][1]}
        return [run.cell for number in cells.values() if (run := self.run(number)) is not None]

    def runs(  # noqa: PLR0913 -- conditions by name
        self,
        notebook: str | None = None,
        cell: str | None = None,
        kernel: str | None = None,
        *,
        before_id: int | None = None,
        limit: int | None = None,
        undone: bool = True,
    ) -> Iterator[Run]:
        """Iterate over runs, newest first, reading a few at a time.

        Args:
            notebook: Only runs of this notebook.
            cell: Only runs of this cell.
            kernel: Only runs of this kernel.
            before_id: Only runs with a smaller number in the ledger.
            limit: The maximum number of runs.
            undone: Whether to include runs that were undone.
        """
        up_to = LATEST if before_id is None else before_id - 1
        runs = self._pages(Query(notebook=notebook, cell=cell, kernel=kernel, up_to=up_to))
        wanted = (run for run in runs if undone or run.status != UNDONE)
        return itertools.islice(wanted, limit)

    def runs_between(self, notebook: str, after_id: int, up_to_id: int) -> Iterator[Run]:
        """Iterate over a notebook's runs in all kernels, oldest first.

        Args:
            notebook: The notebook.
            after_id: Only runs with a larger number in the ledger.
            up_to_id: Only runs with at most this number in the ledger.
        """
        return self._pages(_between(notebook, after_id, up_to_id))

    def run_ids_between(self, notebook: str, after_id: int, up_to_id: int = LATEST) -> list[int]:
        """Return the numbers of the runs in ``runs_between``, without reading them."""
        return self._database.read(queries.ids, _between(notebook, after_id, up_to_id))

    def notebooks(self) -> list[str]:
        """Return the names of all notebooks with runs in the ledger."""
        return self._database.read(queries.notebooks)

    def counts(self) -> Counts:
        """Return the amount of content in the ledger."""

        def do(connection: sqlite3.Connection) -> Counts:
            (runs,) = connection.execute("SELECT count(*) FROM runs").fetchone()
            (states,), (values,) = (
                connection.execute("SELECT count(*) FROM blobs WHERE kind = ?", (kind,)).fetchone()
                for kind in (blobs.STATE, blobs.PART)
            )
            return Counts(runs, states, values, used_bytes(connection))

        return self._database.read(do)

    def states(self, digests: Iterable[str]) -> dict[str, bytes]:
        """Return the full states with these digests that are in the ledger, by digest."""
        wanted = {each: key for each in digests if (key := key_of_digest(each)) is not None}
        found = self._database.read(blobs.load, wanted.values())
        return {each: found[key] for each, key in wanted.items() if key in found}

    def traces(self, runs: Iterable[int]) -> dict[int, list[Trace]]:
        """Return the traces of runs by the number of the run, oldest first."""
        numbers = [*runs]
        found = self._database.read(
            lambda connection: {
                run: select_records(connection, "traces", Trace, run=run) for run in numbers
            }
        )
        return {run: traces for run, traces in found.items() if traces}

    def findings(self, run: int, against: int) -> Findings | None:
        """Return the findings about a pair of runs, or None."""
        columns = {"run": run, "against": against}
        found = self._database.read(select_records, "findings", Findings, **columns)
        return found[0] if found else None

    def seeds(self, notebook: str | None = None, *, limit: int | None = None) -> list[SeedEntry]:
        """Return the last entries of the log of seeds, oldest first."""
        where = {} if notebook is None else {"notebook": key_of_name(notebook)}
        return self._database.read(select_records, "seeds", SeedEntry, limit, **where)

    def saved(self, notebook: str, name: str) -> dict[str, bytes] | None:
        """Return the states that were saved under a name, by source, or None."""
        return self._database.read(queries.find_save, notebook, name)

    def saves(self, notebook: str) -> dict[str, float]:
        """Return the names of a notebook's saved states, oldest first, with their times."""
        where = {"notebook": key_of_name(notebook)}
        saves = self._database.read(select_records, "saves", Save, **where)
        return {save.name: save.when for save in saves}

    def verify(self) -> list[str]:
        """Check the whole ledger; return one line for each problem."""
        return self._database.read(verify)

    def _first(self, query: Query) -> Run | None:
        return next(self._pages(query), None)

    def _pages(self, query: Query) -> Iterator[Run]:
        """Iterate over runs; read one first, because it is often enough, and then more."""
        size = 1
        while found := self._database.read(queries.select, replace(query, limit=size)):
            yield from (run for _, run in found if run is not None)
            if len(found) < size:
                return
            edge, size = found[-1][0], min(_GROWTH * size, _PAGE)
            query = replace(
                query, **({"up_to": edge - 1} if query.newest_first else {"after": edge})
            )


def _between(notebook: str, after_id: int, up_to_id: int) -> Query:
    return Query(notebook=notebook, after=after_id, up_to=up_to_id, newest_first=False)
