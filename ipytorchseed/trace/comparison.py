"""The result of comparing two traces, as records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from ipytorchseed.trace.loading import Loaded, Operation  # it imports numpy


class Span(Struct):
    """Operations that only one of the traces has, or that replace each other.

    Attributes:
        at: Their index in B, or where it would be.
        a: The first of A's, if any.
        b: The first of B's, if any.
        count_a: The number in A.
        count_b: The number in B.
        names_a: The most frequent operations of A's.
        names_b: Those of B's.
        accounted: Whether they made no difference: the other run has all their results, or their
            readers gave the same.
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


class FirstDifference(Struct, frozen=True):
    """The first divergence of the runs.

    Attributes:
        kind: ``operation`` (equal inputs, different results), ``argument`` (a number differs),
            ``draw`` (the generator had a different state), ``input`` (a tensor differs that no
            operation here created), ``only-a``, ``only-b``, ``replaced``, ``fused`` (only one has
            them, the other has compiled code there), ``unwritten`` (it read memory that nothing had
            written; only where new memory is recorded).
        a: The operation in A.
        b: The operation in B.
        difference: A lower bound on the distance of the results, relative to their greatest value
            or norm; None if unknown.
        span: The operations that only one has, for the kinds from ``only-a`` to ``fused``.
        source: The operation that returned memory that nothing had written, for ``unwritten``.
    """

    kind: str
    a: Operation | None
    b: Operation | None
    difference: float | None = None
    span: Span | None = None
    source: Operation | None = None

    @property
    def outside(self) -> bool:
        """Whether the difference did not come from an operation, or from new memory."""
        return self.kind not in {"operation", "unwritten"}

    @property
    def draws(self) -> bool:
        """Whether random numbers were drawn differently."""
        return self.kind == "draw" or (self.span is not None and self.span.draws)

    @property
    def shown(self) -> Operation:
        """The operation to show: that in B, unless only that in A is not compiled."""
        shown = self.b or self.a
        if self.b is not None and self.b.compiled and self.a is not None:
            shown = self.a
        assert shown is not None  # noqa: S101 -- one of them parts
        return shown


class Rounding(Struct, frozen=True):
    """Operations at one place whose results differ by rounding.

    Attributes:
        operation: The first of them, in B.
        count: The number of operations.
        largest: The largest difference.
    """

    operation: Operation
    count: int
    largest: float


class Comparison(Struct):
    """Two traces compared.

    Attributes:
        a: The one.
        b: The other.
        rtol: The tolerance; None to compare bits.
        aligned: Operations that both have.
        moved: How many of these are in a different order.
        differing: How many of these differ in bits.
        first: The first divergence, or None.
        operation: The first operation with equal inputs and different results.
        spans: Operations that only one has.
        roundings: Differences by rounding before the first divergence.
        settings: Versions, hardware and flags that differ: name, A's and B's.
    """

    a: Loaded
    b: Loaded
    rtol: float | None
    aligned: int
    moved: int
    differing: int
    first: FirstDifference | None
    operation: FirstDifference | None
    spans: list[Span]
    roundings: list[Rounding]
    settings: list[tuple[str, str, str]]

    @property
    def equal(self) -> bool:
        """Whether both runs computed the same."""
        return self.first is None
