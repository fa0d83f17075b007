"""``Ledger``: stores and reads runs, traces, findings, seeds and saved states."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.errors import LedgerError
from ipytorchseed.ledger import blobs, place, queries
from ipytorchseed.ledger.database import Database
from ipytorchseed.ledger.encoding import key_of_digest, key_of_name
from ipytorchseed.ledger.maintenance import DEFAULTS, USED, Removed, prune, verify
from ipytorchseed.ledger.queries import LATEST, Query, insert_record, select_records
from ipytorchseed.ledger.records import UNDONE, Findings, Run, Save, SeedEntry, Trace

# ``maintain`` prunes after this many runs, for at most this many seconds.
_TIDY_EVERY, _TIDY_SECONDS = 64, 0.005

# ``close`` prunes for at most this many seconds.
_CLOSE_SECONDS = 0.02

# The maximum number of operations, and of draws, to store for one trace.
_MOST_TRACED = 1_000

# The maximum size of a ledger in memory.
_MEMORY_MEGABYTES = 64


# The maximum number of runs to search for cells with the same text.
_ALIKE = 500

# Runs are read in batches: first one run, then more by this factor each time, up to a maximum that
# limits memory.
_PAGE, _GROWTH = 64, 4


_COUNT = f"""SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM blobs WHERE kind = 1),
    (SELECT count(*) FROM blobs WHERE kind = 0), ({USED})"""  # noqa: S608 -- ours


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


class Ledger:
    """The file that stores runs, states and seeds across kernels.

    Create an object with ``Ledger.open`` or ``Ledger.in_memory``. Every method may be called from
    any thread. In a forked child, writes do nothing, and reads use a new connection. If the file
    cannot be used, a method raises ``LedgerError`` with one line for the user. Later calls may
    succeed.

    Args:
        path: The path of the file, or None for a ledger in memory.
        read_only: Whether to only read the file.

    Attributes:
        path: The path of the file, or None for a ledger in memory.
        notices: Lines to show to the user once, for example that a damaged file was renamed.
        limits: The age and size at which content is deleted.
        clock: Returns the time, in seconds since 1970, UTC.
    """

    def __init__(self, path: Path | None, *, read_only: bool = False) -> None:
        self.path = path
        self.limits = DEFAULTS if path else replace(DEFAULTS, megabytes=_MEMORY_MEGABYTES)
        self.clock: Callable[[], float] = time.time
        self._added = 0
        self._read_only = read_only
        self._database = Database(path, read_only=read_only)
        self.notices = self._database.notices

    @classmethod
    def open(cls, path: str | os.PathLike[str] | None = None, *, read_only: bool = False) -> Ledger:
        """Open the ledger, or create it.

        Args:
            path: The path of the file. By default, it is in the folder that the environment
                variable ``IPYTORCHSEED_DATA_DIR`` names, else in the user's data folder.
            read_only: Whether to only read: nothing is created, changed or renamed.

        Raises:
            LedgerError: The file cannot be opened, for example because the disk is full, or another
                process has locked it. A damaged file is not an error: it is renamed, and
                ``notices`` says so.
        """
        where = place.ledger_path() if path is None else Path(path).absolute()
        return cls(where, read_only=read_only)

    @classmethod
    def in_memory(cls) -> Ledger:
        """Create a ledger in memory, which is lost when this process ends."""
        return cls(None)

    @classmethod
    def open_or_set_aside(cls, folder: str | os.PathLike[str] | None = None) -> Ledger:
        """Open or create the ledger; if that fails, return a ledger in memory.

        Args:
            folder: The folder of the file, or None for the default folder.

        Returns:
            The ledger. If it is in memory, ``notices`` says why.
        """
        try:
            return cls.open(None if folder is None else Path(folder).expanduser() / place.NAME)
        except LedgerError as error:
            ledger = cls.in_memory()
            ledger.notices.append(
                f"{error}. Until this is fixed, runs are lost when this kernel ends"
            )
            return ledger

    def close(self) -> None:
        """Prune briefly, and close the file. Closing it again does nothing."""
        if not self._read_only:
            with suppress(LedgerError):
                self.tidy(_CLOSE_SECONDS)
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ----------------------------------------------------------------------------------------------
    # Runs

    def add(self, run: Run, states: Mapping[str, bytes]) -> int:
        """Store a run.

        After this returns, the run is not lost if the process is killed.

        Args:
            run: The run. Its ``id`` is ignored.
            states: The full states to which the run refers, by digest. States that are already in
                the ledger may be left out.

        Returns:
            The number of the run, which is the largest so far; 0 in a forked child.

        Raises:
            LedgerError: The run was not stored.
        """
        number = self._database.write(queries.insert, run, states)
        self._added += 1
        return number or 0

    def mark_undone(self, runs: Iterable[Run]) -> None:
        """Record that the replay of these runs was undone.

        Raises:
            LedgerError: Writing failed.
        """
        self._database.write(queries.mark_undone, [run.id for run in runs if run.id])

    # ----------------------------------------------------------------------------------------------
    # Traces and findings

    def add_trace(self, run: int, trace: Trace) -> None:
        """Store the trace of a run. It is deleted with the run.

        Args:
            run: The number of the run.
            trace: The trace. Only its first 1,000 operations and draws are stored.

        Raises:
            LedgerError: The trace was not stored.
        """
        first = slice(_MOST_TRACED)
        trace = replace(trace, operations=trace.operations[first], draws=trace.draws[first])
        self._database.write(insert_record, "traces", trace, run=run)

    def add_findings(self, run: int, against: int, findings: Findings) -> None:
        """Store the findings about a pair of runs. They are deleted with the later run.

        Args:
            run: The number of the later run.
            against: The number of the earlier run.
            findings: The findings.

        Raises:
            LedgerError: The findings were not stored.
        """
        self._database.write(insert_record, "findings", findings, run=run, against=against)

    # ----------------------------------------------------------------------------------------------
    # Seeds and saves

    def log_seed(self, entry: SeedEntry) -> int:
        """Store a seed; return the number of the entry, or 0 in a forked child."""
        where = {"notebook": key_of_name(entry.notebook), "applied": entry.when}
        return self._database.write(insert_record, "seeds", entry, **where) or 0

    def save(self, notebook: str, name: str, states: Mapping[str, bytes]) -> None:
        """Save states under a name, replacing states saved under the same name.

        Args:
            notebook: The notebook to which the name belongs.
            name: Any text.
            states: The full state of each source, by the source's name.
        """
        self._database.write(queries.put_save, notebook, name, self.clock(), states)

    # ----------------------------------------------------------------------------------------------
    # Maintenance

    def tidy(self, seconds: float | None = None) -> Removed:
        """Delete the content that exceeds ``limits``.

        Args:
            seconds: The time after which to stop; None for no limit. The next call continues.
        """
        removed = prune(self._database, self.limits, self.clock(), seconds)
        if seconds is None:
            self._database.pragma("wal_checkpoint(TRUNCATE)")
        return removed

    def maintain(self) -> None:
        """Prune for a few milliseconds, if there were enough runs since the last time.

        Call this after each run, when the user does not wait for it.

        Raises:
            LedgerError: Pruning failed. No run is lost.
        """
        if self._added >= _TIDY_EVERY:
            self._added = 0
            self.tidy(_TIDY_SECONDS)
            self._database.pragma("wal_checkpoint(PASSIVE)")

    # ----------------------------------------------------------------------------------------------
    # Reading

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
        row = self._database.read(lambda connection: connection.execute(_COUNT).fetchone())
        return Counts(*row)

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

    def seeds(self, notebook: str | None = None, *, limit: int = -1) -> list[SeedEntry]:
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
            last, size = found[-1][0], min(_GROWTH * size, _PAGE)
            edge = {"up_to": last - 1} if query.newest_first else {"after": last}
            query = replace(query, **edge)


def _between(notebook: str, after_id: int, up_to_id: int) -> Query:
    return Query(notebook=notebook, after=after_id, up_to=up_to_id, newest_first=False)
