"""The record of a run, and its parts. They do not contain values of variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import replace

from ipytorchseed.fingerprint.value import Fingerprint

# Seconds since 1970, limited to values that ``time`` can format (about two thousand years).
Moment = Annotated[float, Meta(ge=0, le=1 << 36)]


# The status of a run of a replay that the user has undone. Such a run is never compared.
UNDONE = "undone"


class FileRead(Struct, frozen=True):
    """A file that a cell opened for reading, or a folder that it listed.

    Attributes:
        path: The absolute path. Paths of folders end with ``/``.
        size: The size in bytes when the cell ended; -1 if the file did not exist. For a folder, the
            number of names when it was listed.
        digest: The digest of the content, or of a sample; empty if there was no time.
        exact: Whether the digest is that of the whole content.
        modified: The time of the last write, in nanoseconds since 1970; 0 for a folder or if the
            file did not exist.
    """

    path: str
    size: int
    digest: str
    exact: bool = True
    modified: int = 0

    @property
    def is_folder(self) -> bool:
        """Whether this is a folder that was listed."""
        return self.path.endswith("/")

    def same(self, other: FileRead) -> bool | None:
        """Return whether both records have the same content; None if unknown."""
        if self.size != other.size:
            return False
        if self.exact and other.exact:
            return self.digest == other.digest
        if self.modified == other.modified:
            return True
        sampled = self.digest and other.digest and not self.exact and not other.exact
        return False if sampled and self.digest != other.digest else None


class Operation(Struct, frozen=True):
    """An operation whose result may be different for the same input.

    Attributes:
        operation: The name in torch, such as ``aten::index_put_``.
        line: The line of the cell, from 1; None if unknown. For an operation in a backward pass,
            this is the line of the forward operation.
        code: The text of that line.
        module: The ``torch.nn`` module that ran the operation, or "".
        backward: Whether the operation ran in a backward pass.
        how: ``check`` if a check got different results for the same input, ``alert`` if torch
            reported that it has no deterministic algorithm.
        mends: Whether the cell gave the same result each time under deterministic flags.
    """

    operation: str
    line: int | None
    code: str = ""
    module: str = ""
    backward: bool = False
    how: str = "check"
    mends: bool = False


class Draw(Struct, frozen=True):
    """The draws of one operation on one line from one source.

    Attributes:
        source: The name of the source or generator.
        operation: The name in torch, or the import name of a function.
        line: The line of the cell; None if unknown.
        module: The ``torch.nn`` module that ran the operation, or a part of torch such as
            ``DataLoader``.
        backward: Whether the operation ran in a backward pass.
        calls: The number of calls.
        numbers: The total number of raw numbers; None if they could not be counted.
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
        checked: The number of runs of the cell for ``--check``, or 0.
        traced: The number of operations that were recorded.
        operations: The operations whose results may be different for the same input.
        draws: The draws; empty if they were not recorded.
        notes: Sentences about operations and draws that could not be recorded.
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
        detail: The change in a few words: ``0.1 → 0.5``.
    """

    path: str
    detail: str = ""


class Finding(Struct, frozen=True):
    """The result of experiments about one cause.

    Attributes:
        level: ``proved``, ``may-matter`` or ``no effect``.
        how: A clause with the observation, or with the reason why there was no experiment.
            ``{earlier}`` and ``{later}`` are placeholders for the two runs, because their names
            depend on the kernel in which the clause is shown.
        parts: The parts of a variable that must be restored to get the earlier result again. Empty
            if all of it must be restored.
    """

    level: str = "may-matter"
    how: str = ""
    parts: tuple[Part, ...] = ()


class Findings(Struct, frozen=True):
    """The results of experiments about the causes for the difference of two runs.

    Attributes:
        causes: The kind and name of each cause, and the result.
    """

    causes: tuple[tuple[str, str, Finding], ...]


class Observed(Struct, frozen=True, omit_defaults=True):
    """The observations of ``sys.monitoring`` during a run (Python 3.12 and later).

    Attributes:
        read: The variables in ``Run.reads`` that the run read before it set them. Each has the
            parts that were read, such as ``.lr`` or ``['rate']``, or no parts if it was read as a
            whole.
        set_first: The variables in ``Run.reads`` that the run set before it read them.
        ran: Functions of the notebook that ran.
        unseen: Why the run may have read more variables; empty if all reads were observed.
        drew: The calls and loops in the notebook's code that drew from each source, such as
            ``torch.randn`` or ``for … in loader``. The list may be incomplete.
    """

    read: Mapping[str, tuple[str, ...]] = {}
    set_first: tuple[str, ...] = ()
    ran: tuple[str, ...] = ()
    unseen: str = ""
    drew: Mapping[str, tuple[str, ...]] = {}


class Outputs(Struct, frozen=True, omit_defaults=True):
    """The outputs of a run.

    Attributes:
        result: The value of the last expression, if it was shown.
        shown: The displayed form of ``result``, such as text and HTML.
        stdout: The printed text, if any.
        displays: The displays, in order.
        error: The error that ended the run, as one line without addresses.
    """

    result: Fingerprint | None = None
    shown: Fingerprint | None = None
    stdout: Fingerprint | None = None
    displays: tuple[Fingerprint, ...] = ()
    error: str | None = None


class Outside(Struct, frozen=True, omit_defaults=True):
    """The side effects of a run outside of its variables.

    Attributes:
        wrote: The paths of files that were written, replaced or removed.
        connected: The connections that were opened or written to, such as ``example.org:443`` or
            the path of a Unix socket.
        left: The kinds of objects that still ran at the end: ``thread``, ``widget``.
        importing: The seconds for importing packages. A second run would not need them.
    """

    wrote: tuple[str, ...] = ()
    connected: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    importing: float = 0.0


class SeedEntry(Struct, frozen=True):
    """A seed that we applied.

    Attributes:
        seed: The seed, from 0 to 2**32-1.
        how: ``now``, ``each``, ``new`` or ``scope`` if a command applied it; ``call`` or ``block``
            if a cell called our functions.
        when: The time, in seconds since 1970, UTC.
        notebook: The identifier of the notebook.
        kernel: A unique name of the kernel's process.
        execution_count: The number in ``In[...]`` of the run that applied it, or None.
        cell: The identifier of the cell that applied it, or None.
    """

    seed: int
    how: str
    when: Moment
    notebook: str
    kernel: str
    execution_count: int | None = None
    cell: str | None = None


class Save(Struct, frozen=True):
    """States that the user saved under a name.

    Attributes:
        notebook: The identifier of the notebook.
        name: The name.
        when: The time, in seconds since 1970, UTC.
        states: The key of each source's state, by the source's name.
    """

    notebook: str
    name: str
    when: Moment
    states: dict[str, int]


# Parts of fingerprints that mark values. The first marks values that are only a reading of a clock
# or an address, the second attributes of packages that the user has replaced.
READING, REPLACED = "reading", "replaced"


def marked(values: Mapping[str, Fingerprint], names: set[str], mark: str) -> dict[str, Fingerprint]:
    """Return fingerprints, with some of them marked.

    Args:
        values: The fingerprints, by name.
        names: The names to mark.
        mark: ``READING`` or ``REPLACED``.
    """
    return {
        name: replace(value, parts={**value.parts, mark: ""}) if name in names else value
        for name, value in values.items()
    }


class Run(Struct, frozen=True, omit_defaults=True):
    """One execution of one cell.

    Attributes:
        notebook: The identifier of the notebook; empty for a run in a receipt. If several processes
            run the same notebook, the rank of the process is appended.
        kernel: A unique name of the kernel's process; for a run in a receipt, the receipt's file.
        cell: The identifier of the cell.
        source: The text of the cell.
        execution_count: The number in ``In[...]``, or None.
        started: The start, in seconds since 1970, UTC.
        seconds: The duration in seconds.
        status: ``ok``, ``error`` or ``interrupted``; ``undone`` for a run of a replay that was
            undone.
        before: The digest of the state of each source and each generator in the namespace, before
            the run.
        after: The same after the run.
        generators: The type of each generator as users write it, such as ``torch.Generator``. If an
            object of a library contains the generator, the library is appended: `` in optuna``.
        settings: Flags, environment, versions and hardware, as JSON values by name.
        reads: The fingerprints of variables that the run may read, directly or in functions, before
            the run.
        actions: The actions of the code; see ``Dependencies.actions``.
        observed: The observations while the cell ran; None before Python 3.12.
        missing: Names that the code may look up and that did not exist, such as builtins.
        writes: The fingerprints of variables that the run created or changed, after the run.
        in_place: The names in ``writes`` that the run did not bind, because it changed the objects.
        outputs: The outputs.
        files: The files that the run read.
        loaded: The files of user modules that the run imported or reloaded, by module.
        outside: The side effects outside of variables.
        between: The sources that changed between the end of the previous run and the start of this
            one, with their digests at both times.
        imported: The sources that only imports advanced, including sources that an import created.
        seeds: The seeds that our commands applied during the run, and how; see ``SeedEntry.how``.
        nondeterministic_calls: Functions that the code may call and whose results are different
            every time (clocks, entropy), each with whether the result is used for anything more
            than being printed or stored.
        packages: The packages that the code may use, such as ``torch`` and ``numpy``.
        code: A digest of the cell's code that ignores comments and layout.
        notes: Sentences about anything that could not be inspected.
        id: The number in the ledger; None before the run is stored.
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
        """The receipt's file for a run in a receipt, else an empty string."""
        return "" if self.notebook else self.kernel

    @property
    def timed(self) -> list[str]:
        """The variables whose values were only readings of clocks, or addresses."""
        values = {**self.reads, **self.writes}
        return [name for name, value in values.items() if READING in value.parts]

    @property
    def replaced(self) -> list[str]:
        """The attributes of packages that the run read and that the user had replaced."""
        return [name for name, value in self.reads.items() if REPLACED in value.parts]

    @property
    def seconds_again(self) -> float:
        """The seconds that another run takes, when its packages are already imported."""
        return max(self.seconds - self.outside.importing, 0.0)

    def lasts_at(self, moment: float) -> bool:
        """Return whether the cell was running at a time in a file's metadata."""
        return self.started - _TICK <= moment <= self.started + self.seconds

    @property
    def may_read_file_times(self) -> bool:
        """Whether the run may read times of files, which then count as content."""
        return not _FILE_TIMES.isdisjoint(action.rpartition(".")[2] for action in self.actions)


# Times of files may be this many seconds too early.
_TICK = 0.01

_FILE_TIMES = frozenset({"fstat", "getctime", "getmtime", "lstat", "stat"})
