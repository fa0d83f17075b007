"""The records of a run: what it read, drew and set, without variables' contents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import replace

from ipytorchseed.fingerprint.value import Fingerprint

# Seconds since 1970, for about two thousand years: what ``time`` can format.
Moment = Annotated[float, Meta(ge=0, le=1 << 36)]


# The status of a run by a replay that the user undid. It is never compared.
UNDONE = "undone"


class FileRead(Struct, frozen=True):
    """A file that a cell opened for reading, or a folder that it listed.

    Attributes:
        path: Absolute; a folder ends in ``/``.
        size: In bytes, when the cell ended; -1 if it was gone. For a folder, the number of names
            when it was listed.
        digest: The digest of its content, or of a sample; empty if there was no time.
        exact: Whether all of it was read for the digest.
        modified: When it was last written to, in nanoseconds since 1970; 0 if it was gone.
    """

    path: str
    size: int
    digest: str
    exact: bool = True
    modified: int = 0

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder that was listed."""
        return self.path.endswith("/")

    def same(self, other: FileRead) -> bool | None:
        """Return whether the file had the same content; None if unknown."""
        if self.size != other.size:
            return False
        if self.exact and other.exact:
            return self.digest == other.digest
        if self.modified == other.modified:
            return True
        sampled = self.digest and other.digest and not self.exact and not other.exact
        return False if sampled and self.digest != other.digest else None


class Operation(Struct, frozen=True):
    """An operation that may not repeat.

    Attributes:
        operation: As torch spells it, ``aten::index_put_``.
        line: Of the cell, from 1; None if no line of it led there. In a backward pass, the
            line of the forward.
        code: The text of that line.
        module: The module it ran in; or "".
        backward: Whether it ran in a backward pass.
        how: ``check`` if it gave different results for the same input, or ``alert`` if torch
            reported that it has no deterministic algorithm.
        mends: Whether the cell repeated under deterministic flags.
    """

    operation: str
    line: int | None
    code: str = ""
    module: str = ""
    backward: bool = False
    how: str = "check"
    mends: bool = False


class Draw(Struct, frozen=True):
    """What one operation on one line drew from one source.

    Attributes:
        source: The source or generator.
        operation: As torch spells it, or as one would import it.
        line: Of the cell; None if no line of it led there.
        module: The module it ran in, or the part of torch that asked: ``DataLoader``.
        backward: Whether it ran in a backward pass.
        calls: The number of calls.
        numbers: The number of raw numbers in all; None if they could not be counted.
    """

    source: str
    operation: str
    line: int | None
    module: str = ""
    backward: bool = False
    calls: int = 1
    numbers: int | None = None


class Trace(Struct, frozen=True):
    """The recorded operations of a run.

    Attributes:
        checked: How often the cell ran for ``--check``; or 0.
        traced: How many operations were recorded.
        operations: Those that may not repeat.
        draws: Who drew; empty if that was not recorded.
        notes: What could not be seen, in words.
    """

    checked: int = 0
    traced: int = 0
    operations: tuple[Operation, ...] = ()
    draws: tuple[Draw, ...] = ()
    notes: tuple[str, ...] = ()


class Part(Struct, frozen=True):
    """A part of a variable.

    Attributes:
        path: The part as code: ``cfg.lr``, ``df['price']``.
        detail: How it changed, in a few words: ``0.1 → 0.5``.
    """

    path: str
    detail: str = ""


class Finding(Struct, frozen=True):
    """What experiments showed about one cause.

    Attributes:
        level: ``proved``, ``may-matter`` or ``no effect``.
        how: What was seen, or why nothing was tried, in a clause. ``{earlier}`` and ``{later}``
            are placeholders for the two runs, whose names depend on the reader.
        parts: The parts of a variable that give the earlier result again, if only some do.
    """

    level: str = "may-matter"
    how: str = ""
    parts: tuple[Part, ...] = ()


class Findings(Struct, frozen=True):
    """What experiments showed about the causes of a pair of runs.

    Attributes:
        causes: Kind and name of each cause, and what was found.
    """

    causes: tuple[tuple[str, str, Finding], ...]


class Observed(Struct, frozen=True, omit_defaults=True):
    """What a run was observed to do, on Python 3.12 and later.

    Attributes:
        read: Those of its ``reads`` that it read before it set them, each with the parts that it
            read, as code: ``.lr``, ``['rate']``; none if it read all of it.
        set_first: Those that it set before it read them.
        ran: Functions of the notebook that ran.
        unseen: Why it may have read more; empty if everything was seen.
        drew: The calls and loops of the notebook's code that drew from each source, as
            ``torch.randn`` or ``for … in loader``. There may be more.
    """

    read: Mapping[str, tuple[str, ...]] = {}
    set_first: tuple[str, ...] = ()
    ran: tuple[str, ...] = ()
    unseen: str = ""
    drew: Mapping[str, tuple[str, ...]] = {}


class Outputs(Struct, frozen=True, omit_defaults=True):
    """What a run showed.

    Attributes:
        result: Its last expression, if it showed one.
        shown: How that was shown: its text, its HTML.
        stdout: What it printed, if anything.
        displays: What it displayed, in order.
        error: The error that ended it, as one line without addresses.
    """

    result: Fingerprint | None = None
    shown: Fingerprint | None = None
    stdout: Fingerprint | None = None
    displays: tuple[Fingerprint, ...] = ()
    error: str | None = None


class Outside(Struct, frozen=True, omit_defaults=True):
    """What a run did that outlives its variables.

    Attributes:
        wrote: Paths of the files that it wrote, replaced or removed.
        connected: What it opened a connection or sent to: ``example.org:443``, or the path of a
            Unix socket.
        left: What still ran at the end: ``thread``, ``widget``.
        importing: The part of its seconds in which it imported packages, which stay imported.
    """

    wrote: tuple[str, ...] = ()
    connected: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    importing: float = 0.0


# Parts of values: of a reading of a clock, or an address, and nothing else; and of what the user
# put in the place of a package's original.
READING, REPLACED = "reading", "replaced"


def marked(values: Mapping[str, Fingerprint], names: set[str], mark: str) -> dict[str, Fingerprint]:
    """Return values, with some marked as ``READING`` or ``REPLACED``."""
    return {
        name: replace(value, parts={**value.parts, mark: ""}) if name in names else value
        for name, value in values.items()
    }


class Run(Struct, frozen=True, omit_defaults=True):
    """One execution of one cell.

    Attributes:
        notebook: The identifier of the notebook; empty for a run of a receipt. If several
            processes run the same notebook, it ends with the rank of one of them.
        kernel: A name of the kernel's process, new at each start; or the receipt's file.
        cell: The identifier of the cell.
        source: Its text.
        execution_count: The number in ``In[...]``, or None.
        started: Seconds since 1970, UTC.
        seconds: How long it ran.
        status: ``ok``, ``error`` or ``interrupted``; ``undone`` if a replay ran it and was undone.
        before: Digest of the state of each source and namespace generator when it began.
        after: The same when it ended.
        generators: The type of each of the generators, as users write it: ``torch.Generator``; with
            `` in optuna`` if a library's object holds it.
        settings: Flags, environment, versions and hardware, as JSON values by name.
        reads: What it read, also through functions: value by name, when it began.
        actions: What its code, and code of the user's that it may call, does, in order, as
            ``Dependencies.actions``.
        observed: What it was seen to read while it ran; None before Python 3.12.
        missing: Names that its code may look up and that did not exist: builtins, and unset names.
        writes: What it created or changed: value by name, when it ended.
        in_place: Those of them whose names it did not bind: it changed the objects themselves.
        outputs: What it showed.
        files: The files that it read.
        loaded: The files of the user's own modules that it loaded again, by module.
        outside: What it did that outlives its variables.
        between: Sources that moved between the previous run's end and this one's begin, with
            their digests then and now.
        imported: Sources that only imports drew from, or that came with one and were left so.
        seeds: Seeds that commands of ours applied while it ran, and how (``now``, ``each``,
            ``new``, ``scope``).
        nondeterministic_calls: Functions that its code may call and that differ each time (clock,
            entropy), and whether their results do more than being printed or stored.
        packages: Packages that its code reaches, such as ``torch`` and ``numpy``.
        code: The name of its text as the interpreter sees it: without comments and layout.
        notes: What could not be looked at, in words.
        id: Its number in the ledger; None before it is stored.
    """

    notebook: str
    kernel: str
    cell: str
    source: str
    execution_count: int | None
    started: Moment
    seconds: float
    status: str
    before: Mapping[str, str] = {}
    after: Mapping[str, str] = {}
    generators: Mapping[str, str] = {}
    settings: Mapping[str, Any] = {}
    reads: Mapping[str, Fingerprint] = {}
    actions: tuple[str, ...] = ()
    observed: Observed | None = None
    missing: tuple[str, ...] = ()
    writes: Mapping[str, Fingerprint] = {}
    in_place: tuple[str, ...] = ()
    outputs: Outputs = Outputs()
    files: tuple[FileRead, ...] = ()
    loaded: Mapping[str, FileRead] = {}
    outside: Outside = Outside()
    between: Mapping[str, tuple[str, str]] = {}
    imported: tuple[str, ...] = ()
    seeds: tuple[tuple[int, str], ...] = ()
    nondeterministic_calls: Mapping[str, bool] = {}
    packages: tuple[str, ...] = ()
    code: str = ""
    notes: tuple[str, ...] = ()
    id: int | None = None

    @property
    def receipt(self) -> str:
        """The file of the receipt that it was read from; empty for a run of this machine."""
        return "" if self.notebook else self.kernel

    @property
    def timed(self) -> list[str]:
        """Variables that held only readings of clocks, or addresses: no content."""
        values = {**self.reads, **self.writes}
        return [name for name, value in values.items() if READING in value.parts]

    @property
    def replaced(self) -> list[str]:
        """What it reads of packages and the user put in the place of the original."""
        return [name for name, value in self.reads.items() if REPLACED in value.parts]

    @property
    def seconds_again(self) -> float:
        """How long it takes to run again, when its packages are imported."""
        return max(self.seconds - self.outside.importing, 0.0)

    def lasts_at(self, moment: float) -> bool:
        """Return whether it was running at a moment, by a file's clock."""
        return self.started - _TICK <= moment <= self.started + self.seconds

    @property
    def may_read_file_times(self) -> bool:
        """Whether it may read the time of a file, which then counts as content."""
        return not _FILE_TIMES.isdisjoint(action.rpartition(".")[2] for action in self.actions)


# Seconds by which a file system's clock may be late.
_TICK = 0.01

_FILE_TIMES = frozenset({"fstat", "getctime", "getmtime", "lstat", "stat"})
