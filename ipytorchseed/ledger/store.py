"""``Ledger``: stores and reads runs, traces, findings, seeds and saved states."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self

from msgspec.structs import replace

from ipytorchseed.errors import LedgerError
from ipytorchseed.ledger import place, queries
from ipytorchseed.ledger.database import PATIENCE, Database
from ipytorchseed.ledger.encoding import key_of_name
from ipytorchseed.ledger.prune import DEFAULTS, Removed, prune
from ipytorchseed.ledger.queries import insert_record
from ipytorchseed.ledger.reader import Reader
from ipytorchseed.ledger.records import Findings, Run, SeedEntry, Trace

# ``maintain`` prunes after this many runs, for at most this many seconds.
_TIDY_EVERY, _TIDY_SECONDS = 64, 0.005

# ``close`` prunes for at most this many seconds.
_CLOSE_SECONDS = 0.02

# The maximum number of operations, and of draws, to store for one trace.
_MOST_TRACED = 1_000

# The maximum size of a ledger in memory.
_MEMORY_MEGABYTES = 64


class Ledger(Reader):
    """The file that stores runs, states and seeds across kernels.

    Create an object with ``Ledger.open`` or ``Ledger.in_memory``. Every method may be called from
    any thread. In a forked child, writes do nothing, and reads use a new connection. If the file
    cannot be used, a method raises ``LedgerError`` with one line for the user. Later calls may
    succeed.

    Args:
        path: The path of the file, or None for a ledger in memory.
        read_only: Whether to only read the file.
        patience: Seconds to wait for other processes that write.

    Attributes:
        limits: The age and size at which content is deleted.
        clock: Returns the time, in seconds since 1970, UTC.
    """

    def __init__(
        self, path: Path | None, *, read_only: bool = False, patience: float = PATIENCE
    ) -> None:
        self.limits = DEFAULTS if path else replace(DEFAULTS, megabytes=_MEMORY_MEGABYTES)
        self.clock: Callable[[], float] = time.time
        self._added = 0
        self._read_only = read_only
        super().__init__(Database(path, read_only=read_only, patience=patience))

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        read_only: bool = False,
        patience: float = PATIENCE,
    ) -> Ledger:
        """Open the ledger, or create it.

        Args:
            path: The path of the file. By default, it is in the folder that the environment
                variable ``IPYTORCHSEED_DATA_DIR`` names, else in the user's data folder.
            read_only: Whether to only read: nothing is created, changed or renamed.
            patience: Seconds to wait for other processes that write.

        Raises:
            LedgerError: The file cannot be opened, for example because the disk is full, or another
                process has locked it. A damaged file is not an error: it is renamed, and
                ``notices`` says so.
        """
        where = place.ledger_path() if path is None else Path(path).absolute()
        return cls(where, read_only=read_only, patience=patience)

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
            ledger.notices.append(f"{error}. Until then runs are forgotten when this kernel ends")
            return ledger

    @property
    def path(self) -> Path | None:
        """The path of the file, or None for a ledger in memory."""
        return self._database.path

    @property
    def notices(self) -> list[str]:
        """Lines to show to the user once, for example that a damaged file was renamed."""
        return self._database.notices

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
    # Traces

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
