"""``Ledger``: stores and reads runs, traces, seeds and saved states."""

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
from ipytorchseed.ledger.prune import DEFAULTS, Removed, checkpoint, prune
from ipytorchseed.ledger.reader import Reader
from ipytorchseed.ledger.records import Findings, Run, Trace
from ipytorchseed.ledger.seeds import SeedEntry, put_save
from ipytorchseed.ledger.tables import insert

# Runs after which ``maintain`` prunes, and the time that it may take.
_TIDY_EVERY, _TIDY_SECONDS = 64, 0.005

# The time for pruning at the end.
_CLOSE_SECONDS = 0.02

# The most draws and operations that are stored of one trace.
_MOST_TRACED = 1_000

# The limit for a ledger in memory.
_MEMORY_MEGABYTES = 64


class Ledger(Reader):
    """Runs, states and seeds, in one file that outlives kernels.

    Create it with ``Ledger.open`` or ``Ledger.in_memory``. Every method may be called from any
    thread. In a forked child, writes do nothing, and reads use a new connection. Every method
    raises ``LedgerError`` if the file fails, with one line for the user. The ledger stays usable,
    as the next call may succeed.

    Args:
        path: The file, or None for memory.
        read_only: Whether it is only read.
        patience: Seconds to wait for other processes that write.

    Attributes:
        limits: How long and how much is kept.
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
            path: The file; by default in the user's data folder or that of the environment
                variable ``IPYTORCHSEED_DATA_DIR``.
            read_only: Only read: nothing is created, changed or renamed.
            patience: Seconds to wait for other processes that write.

        Raises:
            LedgerError: It cannot be opened: read-only folder, full disk, held by another process,
                made by a newer version. A damaged ledger is renamed, and ``notices`` says so.
        """
        where = place.ledger_path() if path is None else Path(path).absolute()
        return cls(where, read_only=read_only, patience=patience)

    @classmethod
    def in_memory(cls) -> Ledger:
        """Create a ledger that ends with this process, if no file can be opened."""
        return cls(None)

    @classmethod
    def open_or_set_aside(cls, folder: str | os.PathLike[str] | None = None) -> Ledger:
        """Open or create the ledger, and never fail, so that the notebook can go on.

        Args:
            folder: Its folder; None for the usual one.

        Returns:
            The ledger. If its file cannot be used, it is in memory, and ``notices`` says so.
        """
        try:
            return cls.open(None if folder is None else Path(folder).expanduser() / place.NAME)
        except LedgerError as error:
            ledger = cls.in_memory()
            ledger.notices.append(f"{error}. Until then runs are forgotten when this kernel ends")
            return ledger

    @property
    def path(self) -> Path | None:
        """The file, or None for memory."""
        return self._database.path

    @property
    def notices(self) -> list[str]:
        """Lines for the user, shown once: for example that a damaged file was renamed."""
        return self._database.notices

    def close(self) -> None:
        """Prune a little, and close the file; further calls do nothing."""
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

        When this returns, the run is durable, even if the process is killed.

        Args:
            run: The run; its ``id`` is ignored.
            states: Full states by digest, if the run refers to them and they may be new. States
                that the ledger has may be left out.

        Returns:
            The run's number, larger than that of every run before; 0 in a forked child.

        Raises:
            LedgerError: The run was not stored.
        """
        number = self._database.write(
            lambda connection: queries.insert(connection, run, states), otherwise=0
        )
        self._added += 1
        return number

    def mark_undone(self, runs: Iterable[Run]) -> None:
        """Record that the replay of these runs was undone.

        Raises:
            LedgerError: It was not recorded.
        """
        numbers = [run.id for run in runs if run.id]
        self._database.write(
            lambda connection: queries.mark_undone(connection, numbers), otherwise=None
        )

    # ----------------------------------------------------------------------------------------------
    # Traces

    def add_trace(self, run: int, trace: Trace) -> None:
        """Store the recorded operations of a run; they are deleted with the run.

        Args:
            run: The run's number.
            trace: The operations; only the first if there are many.

        Raises:
            LedgerError: It was not stored.
        """
        first = slice(_MOST_TRACED)
        trace = replace(trace, operations=trace.operations[first], draws=trace.draws[first])
        self._database.write(
            lambda connection: insert(connection, "traces", trace, run=run), otherwise=0
        )

    def add_findings(self, run: int, against: int, findings: Findings) -> None:
        """Store the findings about a pair of runs; they are deleted with the later run.

        Args:
            run: The later run's number.
            against: The earlier run's number.
            findings: What was found.

        Raises:
            LedgerError: It was not stored.
        """
        self._database.write(
            lambda connection: insert(connection, "findings", findings, run=run, against=against),
            otherwise=0,
        )

    # ----------------------------------------------------------------------------------------------
    # Seeds and saves

    def log_seed(self, entry: SeedEntry) -> int:
        """Store a seed; return the entry's number, or 0 in a forked child."""
        where = {"notebook": key_of_name(entry.notebook), "applied": entry.when}
        return self._database.write(
            lambda connection: insert(connection, "seeds", entry, **where), otherwise=0
        )

    def save(self, notebook: str, name: str, states: Mapping[str, bytes]) -> None:
        """Save states under a name. They survive restarts, until the name is used again.

        Args:
            notebook: The notebook that the name belongs to.
            name: Any text.
            states: The full state of each source, by the source's name.
        """
        now = self.clock()
        self._database.write(
            lambda connection: put_save(connection, notebook, name, now, states), otherwise=None
        )

    # ----------------------------------------------------------------------------------------------
    # Maintenance

    def tidy(self, seconds: float | None = None) -> Removed:
        """Delete what ``limits`` no longer allows.

        Args:
            seconds: Time after which the rest is left for the next call; None for no limit.
        """
        removed = prune(self._database, self.limits, self.clock(), seconds)
        if seconds is None:
            checkpoint(self._database, thorough=True)
        return removed

    def maintain(self) -> None:
        """Prune for a few milliseconds, once in a number of runs.

        Call it while no one waits.

        Raises:
            LedgerError: It failed; the runs are stored.
        """
        if self._added >= _TIDY_EVERY:
            self._added = 0
            self.tidy(_TIDY_SECONDS)
            checkpoint(self._database)
