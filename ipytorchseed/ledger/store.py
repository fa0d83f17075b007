"""``Ledger``: stores runs, traces, seeds and saved states, and reads them again."""

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
from ipytorchseed.ledger.findings import put_findings
from ipytorchseed.ledger.prune import DEFAULTS, Removed, checkpoint, prune
from ipytorchseed.ledger.reader import Reader
from ipytorchseed.ledger.records import Findings, Run, Trace
from ipytorchseed.ledger.seeds import SeedEntry, put_save, put_seed
from ipytorchseed.ledger.traces import put_trace

_TIDY_EVERY, _TIDY_SECONDS = 64, 0.005
"""Runs after which ``maintain`` drops what is too old, and the time that it takes for it."""

_CLOSE_SECONDS = 0.02
"""The time taken for it at the end."""

_MEMORY_MEGABYTES = 64
"""What a ledger in memory may take."""


class Ledger(Reader):
    """Runs, states and seeds, in one file that outlives kernels.

    Made by ``Ledger.open`` or ``Ledger.in_memory``. Every method may be called from any thread. In
    a forked child what is written is silently dropped, and what is read is read again from the
    file. Every method raises ``LedgerError`` where the file fails, with one line for the user; the
    ledger can be used on: what failed may work again.

    Args:
        path: The file, or None for memory.
        read_only: Whether it is only looked at.
        patience: Seconds to wait for other processes that write.

    Attributes:
        limits: How long and how much is kept.
        clock: Tells the time, in seconds since 1970, UTC.
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
        """Open the ledger, or begin it.

        Args:
            path: The file; where none is given, in the user's data folder or where the environment
                variable ``IPYTORCHSEED_DATA_DIR`` says.
            read_only: Only look: nothing is made, changed or set aside.
            patience: Seconds to wait for other processes that write.

        Raises:
            LedgerError: It cannot be opened: read-only folder, full disk, held by another process,
                made by a newer version. A damaged one is set aside, and ``notices`` says so.
        """
        where = place.ledger_path() if path is None else Path(path).absolute()
        return cls(where, read_only=read_only, patience=patience)

    @classmethod
    def in_memory(cls) -> Ledger:
        """Begin one that ends with this process: for where no file can be opened."""
        return cls(None)

    @classmethod
    def open_or_set_aside(cls, folder: str | os.PathLike[str] | None = None) -> Ledger:
        """Open the ledger or begin one, whatever is in the way: the notebook goes on.

        Args:
            folder: Where it lies; None for the usual place.

        Returns:
            The ledger; where its file cannot be used, one in memory. ``notices`` tells.
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
        """What the user should be told once, a line each: a damaged file was set aside."""
        return self._database.notices

    def close(self) -> None:
        """Delete some of what is too old, and close the file. May be called again."""
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
        """Keep a run. When this returns, the run outlives the process, also one that is killed.

        Args:
            run: The run; its ``id`` is not looked at.
            states: Full states by digest, of those that the run refers to and that may be new:
                those that moved. A state that the ledger holds needs not be given again.

        Returns:
            The run's number, larger than that of every run before; 0 in a forked child.

        Raises:
            LedgerError: The run is not kept.
        """
        number = self._database.write(
            lambda connection: queries.insert(connection, run, states), otherwise=0
        )
        self._added += 1
        return number

    def mark_undone(self, runs: Iterable[Run]) -> None:
        """Note that the replay which made runs was undone.

        Raises:
            LedgerError: It is not noted.
        """
        numbers = [run.id for run in runs if run.id]
        self._database.write(
            lambda connection: queries.mark_undone(connection, numbers), otherwise=None
        )

    # ----------------------------------------------------------------------------------------------
    # Traces

    def add_trace(self, run: int, trace: Trace) -> None:
        """Store what was seen of a run's operations; it is deleted with the run.

        Args:
            run: The run's number.
            trace: What was seen.

        Raises:
            LedgerError: It is not kept.
        """
        self._database.write(lambda connection: put_trace(connection, run, trace), otherwise=None)

    def add_findings(self, run: int, against: int, findings: Findings) -> None:
        """Store what experiments showed about a pair of runs; deleted with the later run.

        Args:
            run: The later run's number.
            against: The earlier run's number.
            findings: What was found.

        Raises:
            LedgerError: It is not kept.
        """
        self._database.write(
            lambda connection: put_findings(connection, run, against, findings), otherwise=None
        )

    # ----------------------------------------------------------------------------------------------
    # Seeds and saves

    def log_seed(self, entry: SeedEntry) -> int:
        """Note that a seed was applied; return the entry's number, or 0 in a forked child."""
        return self._database.write(lambda connection: put_seed(connection, entry), otherwise=0)

    def save(self, notebook: str, name: str, states: Mapping[str, bytes]) -> None:
        """Keep states under a name, across kernel restarts, until the name is used again.

        Args:
            notebook: Each notebook has names of its own.
            name: Any text.
            states: The full state of each source, by the source's name.
        """
        now = self.clock()
        self._database.write(
            lambda connection: put_save(connection, notebook, name, now, states), otherwise=None
        )

    # ----------------------------------------------------------------------------------------------
    # Keeping house

    def tidy(self, seconds: float | None = None) -> Removed:
        """Drop what ``limits`` no longer allows.

        Args:
            seconds: Time after which to leave the rest for the next time; None for no limit.
        """
        removed = prune(self._database, self.limits, self.clock(), seconds)
        if seconds is None:
            checkpoint(self._database, thorough=True)
        return removed

    def maintain(self) -> None:
        """Prune for a few milliseconds, after every so many runs; called while nobody waits.

        Raises:
            LedgerError: It failed; the runs are kept.
        """
        if self._added >= _TIDY_EVERY:
            self._added = 0
            self.tidy(_TIDY_SECONDS)
            checkpoint(self._database)
