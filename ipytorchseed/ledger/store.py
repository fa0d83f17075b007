"""The ledger: what was recorded of runs, kept and found again."""

from __future__ import annotations

import time
from contextlib import suppress
from heapq import merge
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.errors import LedgerError
from ipytorchseed.ledger import codec, place, rows, tail
from ipytorchseed.ledger.database import PATIENCE, Database
from ipytorchseed.ledger.prune import DEFAULTS, Removed, prune
from ipytorchseed.ledger.reader import Reader
from ipytorchseed.ledger.saves import find_save, names_of_saves, put_save
from ipytorchseed.ledger.seeds import SeedEntry, find_seeds, put_seed
from ipytorchseed.ledger.states import States
from ipytorchseed.ledger.things import Things
from ipytorchseed.ledger.traces import find_traces, put_trace
from ipytorchseed.ledger.verify import verify

if TYPE_CHECKING:
    import os
    import sqlite3
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import TracebackType

    import msgspec

    from ipytorchseed.ledger.records import Run, Trace

_TIDY_EVERY, _TIDY_SECONDS = 64, 0.005
"""Runs after which a process looks whether something is too old, and the time it takes for that."""

_MOST_WAITING = 256
"""Runs that are kept without being in the tables."""

_CLOSE_SECONDS = 0.02
"""The time taken for it at the end."""

_MEMORY_MEGABYTES = 64
"""What a ledger in memory may take."""


class _Settled(Struct):
    """What ``settle`` found.

    Attributes:
        count: Runs that are in the tables now and were not.
        own: The tail of this process, as it was read.
        dead: Tails of processes that are gone, all in the tables.
    """

    count: int
    own: tail.Waiting | None
    dead: list[tail.Waiting]


class Ledger(Reader):
    """Runs, states and seeds, in one file that outlives kernels.

    Made by ``Ledger.open`` or ``Ledger.in_memory``. Every method may be called from any thread. In
    a forked child what is written is silently dropped, and what is read is read anew from the
    file. Every method raises ``LedgerError`` where the file fails, with one line for the user; the
    ledger can be used on: what failed may work again.

    Args:
        path: The file, or None for memory.
        read_only: Whether it is only looked at.
        mends: Whether a damaged one is set aside.
        patience: Seconds to wait for other processes that write.

    Attributes:
        limits: How long and how much is kept.
        clock: Tells the time, in seconds since 1970, UTC.
    """

    def __init__(
        self,
        path: Path | None,
        *,
        read_only: bool = False,
        mends: bool = True,
        patience: float = PATIENCE,
    ) -> None:
        self.limits = DEFAULTS if path else replace(DEFAULTS, megabytes=_MEMORY_MEGABYTES)
        self.clock: Callable[[], float] = time.time
        self._things = Things()
        self._states = States()
        self._newest: int | None = None
        self._settings: tuple[Mapping[str, object], bytes] = {}, codec.encode_settings({})
        self._plain: tuple[Mapping[str, object], msgspec.Raw | None] = {}, codec.encode_plain({})
        self._noted = 0.0, 0
        self._added = 0
        self._read_only = read_only
        database = Database(path, self._forget, read_only=read_only, mends=mends, patience=patience)
        database.settle = self._try_to_settle
        super().__init__(database, self._things)

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
        """Drop some of what is too old, and give the file back. May be called again."""
        if not self._read_only:
            with suppress(LedgerError):
                self.settle()
                self.tidy(_CLOSE_SECONDS)
        self._database.close()

    def __enter__(self) -> Ledger:  # noqa: PYI034 -- typing.Self is of Python 3.11
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
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
        if self._waiting:  # what was noted here comes first
            self.settle()
        number = self._database.write(
            lambda connection: self._put(connection, run, states), otherwise=0
        )
        self._count(1)
        return number

    def note(self, run: Run, states: Mapping[str, bytes]) -> None:
        """Keep a run as ``add`` does, at a tenth of its price; it has no number yet.

        The run is in the tables once ``settle`` was called, by whatever process: reading calls it.
        """
        new = {name: state for name, state in states.items() if not self._states.holds(name)}
        if run.settings is not self._plain[0]:  # the same object where nothing changed
            self._plain = run.settings, codec.encode_plain(run.settings)
        record = codec.encode_record(run, self._plain[1], new)
        if record is None or not self._database.note(record):
            self._noted = run.started, self.add(run, states)
        elif self._waiting >= _MOST_WAITING:
            with suppress(LedgerError):  # they are kept; who reads them meets the same fault
                self.settle()

    def number_of(self, run: Run) -> int | None:
        """Return the number of a run that was noted here; None where it is not in the tables.

        Raises:
            LedgerError: It cannot be put there now.
        """
        self.settle()
        started, number = self._noted
        if started == run.started:
            return number
        # Another process put it into the tables, or another run was noted since.
        newest = self.runs(run.notebook, kernel=run.kernel, limit=_MOST_WAITING)
        return next((each.id for each in newest if each.started == run.started), None)

    def settle(self) -> None:
        """Put into the tables what ``note`` kept, here or in other processes.

        Raises:
            LedgerError: It failed; all stays where it is kept.
        """
        path, mine = self._database.path, self._database.tail
        if path is None or not (self._waiting or tail.any_waiting(path)):
            return
        if self._read_only:
            with Ledger(path, mends=False) as ledger:  # damaged or not, only looked at
                ledger.settle()
            return
        with self._database.alone():
            settled = self._database.write(self._absorb, otherwise=None)
            if settled is not None:
                for dead in settled.dead:
                    tail.remove(dead)
                if mine is not None and settled.own is not None:
                    mine.empty(settled.own)
                self._count(settled.count)

    @property
    def _waiting(self) -> int:
        mine = self._database.tail
        return 0 if mine is None else mine.waiting

    def _absorb(self, connection: sqlite3.Connection) -> _Settled:
        """Put the records of all tails into the tables, the oldest first."""
        path, mine = self._database.path, self._database.tail
        assert path is not None  # noqa: S101 -- the caller looked
        own = None if mine is None else mine.read()
        found = [*tail.find(path), *([] if own is None else [own])]
        tails = {each.generation: each for each in found if each.generation}.values()
        known = dict(connection.execute("SELECT generation, done FROM tails"))
        done = {each.generation: known.get(each.generation, 0) for each in tails}
        queues = [
            [(each.generation, *record) for record in self._read(each, done[each.generation])]
            for each in tails
        ]
        count = 0
        for generation, run, states, end in merge(*queues, key=lambda queued: queued[1].started):
            number = self._put(connection, run, states)
            if own is not None and generation == own.generation:
                self._noted = run.started, number
            done[generation] = end
            count += 1
        if done != known:
            connection.execute("DELETE FROM tails")  # also those of files that are gone
            connection.executemany("INSERT INTO tails VALUES (?, ?)", done.items())
        return _Settled(count, own, [each for each in found if each.dead])

    def _read(
        self, waiting: tail.Waiting, done: int
    ) -> Iterator[tuple[Run, dict[str, bytes], int]]:
        for record, end in waiting.records(done):
            try:
                yield *codec.decode_record(record), end
            except ValueError as error:  # of another version of ours
                waiting.unread = True
                self.notices.append(f"a run beside the ledger {self.path} cannot be read: {error}")

    def _put(self, connection: sqlite3.Connection, run: Run, states: Mapping[str, bytes]) -> int:
        """Put a run into the tables and return its number."""
        if run.settings is not self._settings[0]:  # the same object where nothing changed
            self._settings = run.settings, codec.encode_settings(run.settings)
        things = codec.things_of(run, self._settings[1])
        if self._newest is None:
            self._newest = rows.newest(connection)
        numbers = self._things.intern(connection, things, self._newest)
        unkept = self._states.keep(connection, run, states)
        rows.insert(
            connection, self._newest + 1, run, numbers, codec.payload_of(run, numbers, unkept)
        )
        self._newest += 1
        return self._newest

    def _count(self, added: int) -> None:
        """Look now and then whether something is too old."""
        before, self._added = self._added, self._added + added
        if before // _TIDY_EVERY != self._added // _TIDY_EVERY:
            with suppress(LedgerError):  # the runs are kept; the next one meets the same fault
                self.tidy(_TIDY_SECONDS)

    # ----------------------------------------------------------------------------------------------
    # Traces

    def add_trace(self, run: int, trace: Trace) -> None:
        """Keep what was seen of a run's operations; it goes when the run goes.

        Args:
            run: The run's number.
            trace: What was seen.

        Raises:
            LedgerError: It is not kept.
        """
        self._database.write(lambda connection: put_trace(connection, run, trace), otherwise=None)

    def traces(self, runs: Iterable[int]) -> dict[int, list[Trace]]:
        """Return what was seen of runs' operations, by the run's number, oldest first."""
        numbers = [*runs]
        return self._database.read(lambda connection: find_traces(connection, numbers))

    # ----------------------------------------------------------------------------------------------
    # Seeds and saves

    def log_seed(  # noqa: PLR0913 -- each by name
        self,
        *,
        notebook: str,
        kernel: str,
        seed: int,
        how: str,
        execution_count: int | None = None,
        cell: str | None = None,
        when: float | None = None,
    ) -> int:
        """Note in the log that a seed was applied; ``SeedEntry`` describes the arguments.

        Returns:
            The entry's number; 0 in a forked child.
        """
        when = self.clock() if when is None else when
        entry = SeedEntry(seed, how, when, notebook, kernel, execution_count, cell)
        return self._database.write(lambda connection: put_seed(connection, entry), otherwise=0)

    def seeds(self, notebook: str | None = None, *, limit: int | None = None) -> list[SeedEntry]:
        """Return the log of seeds of a notebook or of all: the last entries, oldest first."""
        return self._database.read(lambda connection: find_seeds(connection, notebook, limit))

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

    def saved(self, notebook: str, name: str) -> dict[str, bytes] | None:
        """Return the state of each source that was saved under a name, or None."""
        return self._database.read(lambda connection: find_save(connection, notebook, name))

    def saves(self, notebook: str) -> dict[str, float]:
        """Return the names of a notebook and when each was given, the oldest first."""
        return self._database.read(lambda connection: names_of_saves(connection, notebook))

    # ----------------------------------------------------------------------------------------------
    # Keeping house

    def tidy(self, seconds: float | None = None) -> Removed:
        """Drop what ``limits`` no longer allows.

        Args:
            seconds: Time after which to leave the rest for the next time; None for no limit.
        """
        return prune(self._database, self._forget, self.limits, self.clock(), seconds)

    def verify(self) -> list[str]:
        """Check everything; return what is wrong, a line each."""
        return self._database.read(verify)

    def _try_to_settle(self) -> None:
        with suppress(LedgerError):  # what is in the tables can be read all the same
            self.settle()

    def _forget(self) -> None:
        self._things.forget()
        self._states.forget()
        self._newest = None
