"""The result of ``--check``."""

from __future__ import annotations

from msgspec import Struct

from ipytorchseed.why.explanation import Change

# The outcome of the cell under deterministic flags.
REPEATS, DIFFERS, ERROR = "repeats", "differs", "error"


class Culprit(Struct, frozen=True):
    """The first operation with a different result for the same input.

    Attributes:
        operation: The operation's name in torch, ``aten::index_put_``.
        line: The line of the cell that called the operation, from 1; None if no line did. In a
            backward pass, the line of the forward operation.
        code: The text of that line.
        index: The operation's number in the traced run, from 0.
        module: The module that the operation ran in, ``model.layer2.conv1``; or "".
        backward: Whether the operation ran in a backward pass.
        unwritten: Whether the operation returned uninitialized memory that was read.
        read_by: The operation that read this memory, and its line.
        instead: What to use instead, if the flags do not help; or "".
        known: What the operation does under deterministic algorithms, according to torch's
            documentation: ``switches`` to a deterministic algorithm, ``raises``, or "" if it is not
            documented.
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
    """The first operation that received different inputs from outside torch.

    Attributes:
        operation: The operation's name in torch.
        line: The line of the cell that called the operation; None if no line did.
        draws: Whether it drew random numbers from a generator in a different state.
    """

    operation: str
    line: int | None
    draws: bool = False


class Checked(Struct):
    """The result of running a cell several times, and of tracing a difference.

    Attributes:
        runs: The requested number of runs.
        differences: The differences between two of the runs; empty if all runs are equal.
        compared: The number of compared values.
        with_flags: The outcome under deterministic flags: ``repeats``, ``differs`` (also if torch
            is not imported) or ``error``; None if no difference was found.
        flags_said: torch's error message under deterministic flags, or "".
        culprit: The operation that gave a different result, if any.
        entry: The operation that received different inputs from outside torch, if any.
        suspects: Clauses that say what else can explain the difference.
        operations: The number of operations in a traced run; 0 if no run was traced.
        first_only: Whether only the cell's own run differs, and all runs on copies are equal.
        notes: Clauses about what could not be copied or observed.
    """

    runs: int
    differences: tuple[Change, ...] = ()
    compared: int = 0
    with_flags: str | None = None
    flags_said: str = ""
    culprit: Culprit | None = None
    entry: Entry | None = None
    suspects: tuple[str, ...] = ()
    operations: int = 0
    first_only: bool = False
    notes: tuple[str, ...] = ()

    @property
    def reproducible(self) -> bool:
        """Whether all runs were equal."""
        return not self.differences
