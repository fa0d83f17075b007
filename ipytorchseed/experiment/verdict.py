"""The result of ``--check``."""

from __future__ import annotations

from msgspec import Struct

from ipytorchseed.why.explanation import Change

REPEATS, DIFFERS, ERROR = "repeats", "differs", "error"
"""What comes of the cell under deterministic flags."""


class Culprit(Struct, frozen=True):
    """The first operation that gave another result for the same input.

    Attributes:
        operation: As torch spells it, ``aten::index_put_``.
        line: Of the cell, from 1; None where no line of it led there.
        code: The text of that line.
        index: Its number in the traced run, from 0.
        module: The module it ran in, ``model.layer2.conv1``; or "".
        backward: Whether it ran in a backward pass; the line is then that of its forward.
        runs: How often it was run again by itself on the same input.
        results: How many different results that gave.
        apart: The largest difference between these; None where it is not known.
        unwritten: Whether it gave memory that nothing had written to, and that was read.
        read_by: Where it is: the operation that read it, and its line.
        instead: What repeats, where the flags do not mend it; or "".
        known: What torch's documentation says of it under deterministic algorithms: ``switches``
            to one that repeats, ``raises``, or "" where it does not mention it.
    """

    operation: str
    line: int | None
    code: str
    index: int
    module: str = ""
    backward: bool = False
    runs: int = 0
    results: int = 0
    apart: float | None = None
    unwritten: bool = False
    read_by: tuple[str, int] | None = None
    instead: str = ""
    known: str = ""


class Entry(Struct, frozen=True):
    """Where a difference came into torch's operations from outside.

    Attributes:
        operation: The first operation that was given something else.
        line: Of the cell; None where no line of it led there.
        draws: Whether it drew random numbers, from a generator that stood elsewhere.
    """

    operation: str
    line: int | None
    draws: bool = False


class Traced(Struct, kw_only=True):
    """What traced runs of a cell tell.

    Attributes:
        culprit: The operation that gave another result.
        entry: Where a difference came in from outside torch, where one did.
        suspects: What can account for that, a sentence each, without its first capital.
        operations: How many operations a traced run had; 0 where none was traced.
        first_only: Whether only the cell's own run differs from the others, on copies.
        unproven: Operations of the cell that may not repeat, where none was caught at it.
        notes: What could not be copied, seen or promised.
    """

    culprit: Culprit | None = None
    entry: Entry | None = None
    suspects: tuple[str, ...] = ()
    operations: int = 0
    first_only: bool = False
    unproven: tuple[Culprit, ...] = ()
    notes: tuple[str, ...] = ()


class Checked(Traced):
    """The result of running a cell several times, and of tracing it where the runs differ.

    Attributes:
        runs: How often it was to be run.
        differences: In what two of the runs differ; empty where all are the same.
        compared: How many things were compared.
        with_flags: ``repeats``, ``differs``, ``error``, or None where it was not tried.
        flags_said: What torch said under them, where they raise.
    """

    runs: int
    differences: tuple[Change, ...] = ()
    compared: int = 0
    with_flags: str | None = None
    flags_said: str = ""

    @property
    def reproducible(self) -> bool:
        """Whether all runs were the same."""
        return not self.differences
