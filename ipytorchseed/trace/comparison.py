"""The result of comparing two traces, as records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from ipytorchseed.trace.compiled import COMPILED
from ipytorchseed.trace.format import Where

if TYPE_CHECKING:
    from ipytorchseed.trace.loading import Loaded  # it brings numpy


class Operation(Struct, frozen=True):
    """An operation of a trace.

    Attributes:
        name: As torch spells it, ``aten::mm``.
        index: Its number in the trace, from 0.
        thread: Its thread, 0 for the first.
        place: Where it stands.
        given: Tensors that it was given, in words, then its other arguments.
    """

    name: str
    index: int
    thread: int
    place: Where
    given: str

    @property
    def compiled(self) -> bool:
        """Whether it is a run of compiled code, or within one."""
        return self.place.module.endswith(COMPILED)


class Span(Struct):
    """Operations that only one of the traces has, or that stand for each other.

    Attributes:
        at: Index in B where they stand, or would.
        a: The first of A's, if any.
        b: The first of B's, if any.
        count_a: How many A has.
        count_b: How many B has.
        names_a: The most frequent operations of A's.
        names_b: Those of B's.
        accounted: Whether all that they gave is known to the other run, or was read by what gave
            the same: so they made no difference.
        draws: Whether random numbers are drawn among them.
        fused: Whether the other run has compiled code there, in which they may be fused.
    """

    at: int
    a: Operation | None
    b: Operation | None
    count_a: int
    count_b: int
    names_a: tuple[str, ...]
    names_b: tuple[str, ...]
    accounted: bool
    draws: bool
    fused: bool


class Parting(Struct, frozen=True):
    """Where the runs part.

    Attributes:
        kind: ``operation`` (given the same, gave something else), ``argument`` (was given another
            number), ``draw`` (drew from a generator that stood elsewhere), ``input`` (was given
            another tensor, which no operation here made), ``only-a``, ``only-b``, ``replaced``,
            ``fused`` (only one has them, the other has compiled code there).
        a: The operation in A.
        b: The operation in B.
        difference: How far results are apart at least, beside their greatest value or their norm;
            None where it is not known.
        span: The operations that only one has, for the last four kinds.
    """

    kind: str
    a: Operation | None
    b: Operation | None
    difference: float | None = None
    span: Span | None = None

    @property
    def shown(self) -> Operation:
        """The operation that stands for both: that in B, unless only that in A is not compiled."""
        shown = self.b or self.a
        if self.b is not None and self.b.compiled and self.a is not None:
            shown = self.a
        assert shown is not None  # noqa: S101 -- one of them parts
        return shown


class Rounding(Struct, frozen=True):
    """Operations at one place whose results differ by rounding.

    Attributes:
        operation: The first of them, in B.
        count: How many.
        largest: The largest difference.
    """

    operation: Operation
    count: int
    largest: float


class Bucket(Struct, frozen=True):
    """A stretch of the run: a point of the curve of differences.

    Attributes:
        begin: The index in B of its first operation.
        count: Pairs of operations in it.
        differing: How many gave something else.
        largest: The largest difference; None where none is known.
    """

    begin: int
    count: int
    differing: int
    largest: float | None


class Comparison(Struct):
    """Two traces compared.

    Attributes:
        a: The one.
        b: The other.
        rtol: What counts as rounding; None where bits count.
        aligned: Operations that both have.
        moved: How many of these stand in another order.
        differing: How many of these gave something else, by bits.
        first: Where the runs part; None where they do not.
        operation: The first operation that was given the same and gave something else.
        spans: What only one has.
        roundings: What differs in rounding before the runs part.
        curve: The difference over the run.
        settings: Versions, hardware and flags that differ: name, A's and B's.
    """

    a: Loaded
    b: Loaded
    rtol: float | None
    aligned: int
    moved: int
    differing: int
    first: Parting | None
    operation: Parting | None
    spans: list[Span]
    roundings: list[Rounding]
    curve: list[Bucket]
    settings: list[tuple[str, str, str]]

    @property
    def equal(self) -> bool:
        """Whether both runs computed the same."""
        return self.first is None
