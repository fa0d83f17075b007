"""Records for the result of comparing two traces, called A and B."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct

from ipytorchseed.trace.compiled import COMPILED
from ipytorchseed.trace.format import Place


class Operation(Struct, frozen=True):
    """An operation of a trace.

    Attributes:
        name: The operation's name in torch, ``aten::mm``.
        index: The number of the operation in the trace, from 0.
        thread: The number of its thread, 0 for the first.
        place: Its place in the code.
        given: The dtypes and shapes of the input tensors, and the other arguments, as text.
    """

    name: str
    index: int
    thread: int
    place: Place
    given: str

    @property
    def compiled(self) -> bool:
        """Whether the operation is a run of compiled code, or happened in one."""
        return self.place.module.endswith(COMPILED)


class Span(Struct):
    """Unpaired operations between two pairs: in one trace only, or different in both.

    Attributes:
        at: The index of the operations in B, or where they would be.
        a: The first unpaired operation in A, if any.
        b: The first unpaired operation in B, if any.
        counts: For A and for B, how often each operation is unpaired, by name.
        accounted: Whether these operations made no difference: the other trace has their results
            too, or the operations that read their results gave equal results.
        draws: Whether one of these operations draws random numbers.
        fused: Whether one of the runs has compiled code here. It may contain the operations of the
            other run in fused form.
    """

    at: int
    a: Operation | None
    b: Operation | None
    counts: tuple[Counter[str], Counter[str]]
    accounted: bool
    draws: bool
    fused: bool


class FirstDifference(Struct, frozen=True):
    """The first divergence of two runs.

    The kinds are:

    - ``operation``: an operation gave different results for equal inputs
    - ``argument``: an argument that is not a tensor differs
    - ``draw``: the generator had a different state
    - ``input``: a tensor differs that no recorded operation created
    - ``only-a``, ``only-b``: only one run has these operations
    - ``replaced``: each run has other operations here
    - ``fused``: one run has operations here, and the other has compiled code
    - ``unwritten``: an operation read uninitialized memory (only if such memory is recorded)

    Attributes:
        kind: The kind.
        a: The operation in A, if any.
        b: The operation in B, if any.
        difference: A lower bound on the distance of the results, relative to their greatest value
            or norm; None if unknown.
        span: For ``only-a``, ``only-b``, ``replaced`` and ``fused``: the unpaired operations.
        source: For ``unwritten``: the operation that returned the uninitialized memory.
    """

    kind: str
    a: Operation | None
    b: Operation | None
    difference: float | None = None
    span: Span | None = None
    source: Operation | None = None

    @property
    def outside(self) -> bool:
        """Whether operations or their inputs differ, not the result of one operation."""
        return self.kind not in {"operation", "unwritten"}

    @property
    def draws(self) -> bool:
        """Whether random numbers were drawn differently."""
        return self.kind == "draw" or (self.span is not None and self.span.draws)

    @property
    def shown(self) -> Operation:
        """The operation to show: B's if there is one, or A's if B's is compiled."""
        shown = self.b or self.a
        if self.b is not None and self.b.compiled and self.a is not None:
            shown = self.a
        assert shown is not None  # noqa: S101 -- at least one of the two is set
        return shown
