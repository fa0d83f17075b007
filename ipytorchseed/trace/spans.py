"""Finds unpaired operations of two traces, and whether they made a difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from ipytorchseed.trace.aligning import Alignment
from ipytorchseed.trace.comparison import Span
from ipytorchseed.trace.compiled import GRAPH
from ipytorchseed.trace.digests import UNSEEN
from ipytorchseed.trace.format import STATE
from ipytorchseed.trace.keys import Keys
from ipytorchseed.trace.loading import Loaded
from ipytorchseed.trace.summaries import Distances

# The most levels of views of views that are followed.
_DEEPEST = 32


def read_later(trace: Loaded, readers: Any) -> Any:
    """Return a mask of results: whether a later reader reads a result.

    Reading a part or a view of the result counts, and so does reading a tensor that was written
    over a part of it.

    Args:
        trace: The trace.
        readers: A mask of operations.
    """
    reads, makes = trace.reads, trace.makes
    chosen = readers[reads.owners]
    digests = [reads.digests[chosen], trace.links[:, 0], trace.links[:, 1], makes.digests]
    distinct, numbers = np.unique(np.concatenate(digests), return_inverse=True)
    read, part, whole, made = np.split(numbers, np.cumsum([*map(len, digests)])[:-1])
    last = np.full(len(distinct), -1)
    np.maximum.at(last, read, reads.owners[chosen])
    for _ in range(_DEEPEST):
        before = last.copy()
        np.maximum.at(last, whole, before[part])
        if np.array_equal(last, before):
            break
    return last[made] > makes.owners


def makers(trace: Loaded, digest: int, end: int) -> Iterator[int]:
    """Yield the last operations before ``end`` that created a tensor or its bases.

    Args:
        trace: The trace.
        digest: The digest of the tensor.
        end: The index of an operation.
    """
    stop = trace.makes.of(end).start
    for _ in range(_DEEPEST):
        found = np.flatnonzero(trace.makes.digests[:stop] == np.uint64(digest))
        if len(found):
            yield int(np.searchsorted(trace.makes.ends, found[-1], side="right"))
        held = trace.links[trace.links[:, 0] == np.uint64(digest), 1]
        if not len(held):
            return
        digest = int(held[0])


class Side:
    """One of two traces, and its unpaired operations.

    Args:
        number: 0 for A, 1 for B.
        traces: Both traces.
        keys: The keys of the operations of both traces.
        pairs: The pairs of operations.

    Attributes:
        free: A mask of the unpaired operations.
    """

    def __init__(
        self, number: int, traces: tuple[Loaded, Loaded], keys: tuple[Keys, Keys], pairs: Alignment
    ) -> None:
        self.number = number
        self.trace = traces[number]
        self.compiled = keys[number].compiled
        self.unwritten = keys[number].unwritten
        self.done = (pairs.a, pairs.b)[number]
        self.ordered = self.done[pairs.ordered]
        self.free = np.ones(len(self.trace), bool)
        self.free[self.done] = False

    def gaps(self) -> dict[int, list[int]]:
        """Return the unpaired operations, by the number of pairs before them."""
        found: dict[int, list[int]] = {}
        rest = np.flatnonzero(self.free)
        for gap, each in zip(np.searchsorted(self.ordered, rest), rest.tolist(), strict=True):
            found.setdefault(int(gap), []).append(each)
        return found

    def runs_compiled(self, gap: int) -> bool:
        """Return whether compiled code runs between two pairs, or in one of the pairs.

        Args:
            gap: The number of pairs before the gap.
        """
        begin = int(self.ordered[gap - 1]) if gap else 0
        end = int(self.ordered[gap]) + 1 if gap < len(self.ordered) else len(self.trace)
        return bool(self.compiled[begin:end].any())

    def accounted(
        self, other: Side, given_same: Any, distances: Distances, rtol: float | None
    ) -> Any:
        """Return a mask of operations: whether an operation made no difference.

        It made none if the other trace has its results too, or if its results are read by an
        unpaired operation or by a pair with equal inputs. Operations that compiled code calls are
        assumed to make no difference, since invisible kernels read their results. So are operations
        that only return a number: the use of the number would show a difference.

        Args:
            other: The other trace.
            given_same: A mask of the pairs with equal inputs.
            distances: The distances between tensors of the two traces.
            rtol: The tolerance; None to compare bits.
        """
        trace = self.trace
        readers = self.free.copy()
        readers[self.done[given_same]] = True
        right = np.isin(trace.makes.digests, np.unique(other.trace.makes.digests))
        right |= read_later(trace, readers)
        called = np.array([call.operation != GRAPH for call in trace.calls], bool)[trace.of]
        inner = self.compiled & called
        tensors = np.array([bool(each.dtype) for each in trace.kinds] or [False])
        tensors = tensors[trace.makes.kinds] | (trace.makes.digests == UNSEEN)
        inner |= ~trace.makes.any(tensors) | self.unwritten
        if rtol is not None:
            unmatched = self.free & ~inner & ~trace.makes.any(right)
            rows = np.flatnonzero(unmatched[trace.makes.owners])
            near = other.free.copy()
            near[other.done[self.compiled[self.done]]] = True  # pairs of compiled code
            among = np.flatnonzero(near[other.trace.makes.owners])
            right[rows] = distances.known(self.number, rows, among, rtol)
        return trace.makes.any(right) | inner


def find_spans(
    a: Side, b: Side, given_same: Any, distances: Distances, rtol: float | None
) -> tuple[list[Span], dict[tuple[int, int], Span]]:
    """Find the spans of unpaired operations in two traces.

    Args:
        a: The first trace.
        b: The second trace.
        given_same: A mask of the pairs with equal inputs.
        distances: The distances between tensors of the two traces.
        rtol: The tolerance; None to compare bits.

    Returns:
        All spans in the order of B, and a dictionary of spans by side (0 or 1) and operation.
    """
    fine = (
        a.accounted(b, given_same, distances, rtol),
        b.accounted(a, given_same, distances, rtol),
    )
    gaps = a.gaps(), b.gaps()
    spans: list[Span] = []
    found: dict[tuple[int, int], Span] = {}
    for gap in sorted({*gaps[0], *gaps[1]}):
        mine, theirs = gaps[0].get(gap, []), gaps[1].get(gap, [])
        span = Span(
            at=int(b.ordered[gap - 1]) + 1 if gap else 0,
            a=a.trace.operation(mine[0]) if mine else None,
            b=b.trace.operation(theirs[0]) if theirs else None,
            count_a=len(mine),
            count_b=len(theirs),
            names_a=_names(a.trace, mine),
            names_b=_names(b.trace, theirs),
            accounted=bool(fine[0][mine].all() and fine[1][theirs].all()),
            draws=_draws(a.trace, mine) or _draws(b.trace, theirs),
            fused=a.runs_compiled(gap) or b.runs_compiled(gap),
        )
        spans.append(span)
        for side, held in enumerate((mine, theirs)):
            found.update(((side, each), span) for each in held)
    return spans, found


def _names(trace: Loaded, held: list[int]) -> tuple[str, ...]:
    counts = Counter(trace.name(each) for each in held)
    return tuple(name for name, _ in counts.most_common(3))


def _draws(trace: Loaded, held: list[int]) -> bool:
    kinds = trace.reads.kinds
    return any(
        trace.kinds[kind].dtype == STATE
        for each in held
        for kind in kinds[trace.reads.of(each)].tolist()
    )
