"""The result of ``--check``."""

from __future__ import annotations

from msgspec import Struct

from ipytorchseed.why.explanation import Change

# The outcome of the cell under deterministic flags.
REPEATS, DIFFERS, ERROR = "repeats", "differs", "error"


class Culprit(Struct, frozen=True):
    """The first operation with a different result for the same input.

    Attributes:
        operation: torch's name, ``aten::index_put_``.
        line: Of the cell, from 1; None if no line of it led there.
        code: The text of that line.
        index: Its number in the traced run, from 0.
        module: The module it ran in, ``model.layer2.conv1``; or "".
        backward: Whether it ran in a backward pass; the line is then that of its forward.
        unwritten: Whether it returned uninitialized memory that was read.
        read_by: The operation that read it, and its line.
        instead: What repeats, if the flags do not help; or "".
        known: What torch's documentation says about it under deterministic algorithms:
            ``switches`` to one that repeats, ``raises``, or "" if it is not mentioned.
    """

    operation: str
    line: int | None
    code: str
    index: int
    module: str = ""
    backward: bool = False
    unwritten: bool = False
    read_by: tuple[str, int] | None = None
    instead: str = ""
    known: str = ""


class Entry(Struct, frozen=True):
    """Where a difference came into torch's operations from outside.

    Attributes:
        operation: The first operation with different inputs.
        line: Of the cell; None if no line of it led there.
        draws: Whether it drew random numbers, from a generator in a different state.
    """

    operation: str
    line: int | None
    draws: bool = False


class Traced(Struct, kw_only=True):
    """What traced runs of a cell show.

    Attributes:
        culprit: The operation that differs.
        entry: Where a difference came in from outside torch, if any.
        suspects: What can explain it, a sentence each, without its first capital.
        operations: The number of operations of a traced run; 0 if none was traced.
        first_only: Whether only the cell's own run differs from the others, on copies.
        notes: What could not be copied, observed or promised.
    """

    culprit: Culprit | None = None
    entry: Entry | None = None
    suspects: tuple[str, ...] = ()
    operations: int = 0
    first_only: bool = False
    notes: tuple[str, ...] = ()


class Checked(Traced):
    """The result of running a cell several times, and of tracing a difference.

    Attributes:
        runs: The requested number of runs.
        differences: The differences of two of the runs; empty if all are equal.
        compared: The number of compared values.
        with_flags: ``repeats``, ``differs``, ``error``, or None if it was not tried.
        flags_said: torch's message, if they raise.
    """

    runs: int
    differences: tuple[Change, ...] = ()
    compared: int = 0
    with_flags: str | None = None
    flags_said: str = ""

    @property
    def reproducible(self) -> bool:
        """Whether all runs were equal."""
        return not self.differences
