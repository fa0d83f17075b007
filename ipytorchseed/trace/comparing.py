"""Compares two traces: finds divergence and unpaired operations."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from msgspec.structs import replace

from ipytorchseed.errors import TraceError
from ipytorchseed.trace.aligning import Keys, align
from ipytorchseed.trace.comparison import FirstDifference, Span
from ipytorchseed.trace.compiled import GRAPH
from ipytorchseed.trace.digests import UNSEEN
from ipytorchseed.trace.format import STATE
from ipytorchseed.trace.loading import Loaded
from ipytorchseed.trace.summaries import apart_each, differences, has_close


def compare(a: Loaded, b: Loaded, rtol: float | None = None) -> Comparison:
    """Compare two traces.

    Args:
        a: The first trace, called A.
        b: The second trace, called B.
        rtol: The largest accepted difference of results, relative to their greatest value or their
            norm; None to compare bits.

    Raises:
        TraceError: ``rtol`` is given, and a trace has no summaries.
    """
    for each in (a, b) if rtol is not None else ():
        if not each.header.summaries:
            raise TraceError(
                f"{each.path} has only digests, and --rtol needs summaries: record it with"
                " its.trace(FILE, summaries=True), or %%deterministic --trace FILE --summaries"
            )
    return Comparison(a, b, rtol)


class Comparison:
    """The comparison of two traces.

    Attributes:
        a: The first trace.
        b: The second trace.
        rtol: The tolerance; None if bits were compared.
        aligned: The number of paired operations.
        differing: The number of pairs whose results differ in bits.
        first: The first divergence, or None.
        operation: The first operation with equal inputs and different results, or None.
        spans: Unpaired operations, in the order of B.
        settings: Versions, hardware and flags that differ: each as name, A's value and B's value.
        equal: Whether the runs do not diverge.
    """

    def __init__(self, a: Loaded, b: Loaded, rtol: float | None) -> None:
        self.a, self.b, self.rtol = a, b, rtol
        self._traces = a, b
        self._keys = one, other = Keys(a), Keys(b)
        self._done = at, to = align(one, other)

        self._same_plain = one.plain[at] == other.plain[to]
        same_given = one.given[at] == other.given[to]
        unseen = ~(one.seen[at] & other.seen[to])
        same_made = (one.made[at] == other.made[to]) | unseen | other.unwritten[to]
        limit = -1.0 if rtol is None else rtol
        # The difference of each pair's results: 0 if they are equal, NaN if unknown.
        self._apart = self._differences("makes", ~same_made)
        self._good = same_made | (self._apart <= limit)
        near = self._same_plain & (self._differences("reads", ~same_given) <= limit)
        self._given_same = same_given | near
        if rtol is not None:
            self._accept_rounding(rtol)

        self._span_of: dict[tuple[int, int], Span] = {}
        self.spans = self._find_spans()
        self.aligned = len(same_made)
        self.differing = int(np.count_nonzero(~same_made))
        wrong = np.flatnonzero(~self._good)
        until = int(wrong[0]) if len(wrong) else self.aligned
        self.first = self._first(until)
        self.equal = self.first is None
        caught = np.flatnonzero(self._given_same & ~self._good)
        self.operation = self._parting("operation", int(caught[0])) if len(caught) else None
        ours, theirs = a.header.settings, b.header.settings
        self.settings = [(n, it, theirs[n]) for n, it in ours.items() if theirs.get(n, it) != it]

    def _differences(self, side: str, chosen: Any) -> Any:
        """Return the difference of each pair: 0 if it is not chosen, NaN if unknown.

        Args:
            side: ``reads`` for the difference of inputs, ``makes`` for results.
            chosen: A mask of the pairs to compute.
        """
        one, other = (getattr(each, side) for each in self._traces)
        found = np.zeros(len(chosen))
        at, to = self._done
        found[chosen] = differences(one, at[chosen], other, to[chosen])
        return found

    def _accept_rounding(self, rtol: float) -> None:
        """Accept differences that the rounding of larger inputs explains.

        Rounding errors are relative to the numbers that are summed. For example, the gradient of a
        bias before a norm consists of rounding errors only. A result that is computed only from
        tensors like this gradient is compared on the scale of their inputs. The search stops at the
        first difference that rounding does not explain.
        """
        scales: dict[int, Any] = {}  # the scale of a tensor's rounding errors, by digest in B
        reads, makes = self.b.reads, self.b.makes
        for pair in np.flatnonzero(~self._good).tolist():
            at, to = self._operations(pair)
            own = [scales.get(digest, np.abs(row)) for digest, row in reads.summarized(to)
                   if row.any() and not np.isnan(row).any()]  # fmt: skip
            floor = np.min(own, axis=0) if own else np.zeros(3)
            (apart,) = differences(self.a.makes, np.array([at]), makes, np.array([to]), floor)
            self._apart[pair] = apart
            if not apart <= rtol:
                if self._same_plain[pair]:
                    inputs = self._differing_inputs(pair)
                    self._given_same[pair] |= all(theirs in scales for _, theirs, _ in inputs)
                return
            self._good[pair] = True
            for digest, row in makes.summarized(to):
                scales[digest] = np.maximum(np.abs(row), floor)

    # -- unpaired operations -----------------------------------------------------------------------

    def _find_spans(self) -> list[Span]:
        """Find the spans of unpaired operations, and register them by side and operation."""
        # The unpaired operations of both traces, by the number of pairs before them.
        gaps: dict[int, tuple[list[int], list[int]]] = {}
        free, ends, drawing = [], [], []
        for side, trace in enumerate(self._traces):
            free.append(np.ones(len(trace), bool))
            free[side][self._done[side]] = False
            drawing.append(trace.reads.any(trace.reads.of_kinds(lambda kind: kind.dtype == STATE)))
            ends.append([-1, *self._done[side].tolist(), len(trace)])
            rest = np.flatnonzero(free[side])
            places = np.searchsorted(self._done[side], rest).tolist()
            for gap, each in zip(places, rest.tolist(), strict=True):
                gaps.setdefault(gap, ([], []))[side].append(each)
        fine = [self._accounted(side, free) for side in range(2)]
        spans = []
        for gap, held in sorted(gaps.items()):
            sides = [*zip(self._traces, held, strict=True)]
            a, b = (trace.operation(mine[0]) if mine else None for trace, mine in sides)
            one, other = (Counter(map(trace.name, mine)) for trace, mine in sides)
            # Whether compiled code runs between the two pairs, or in one of them.
            fused = any(
                keys.compiled[max(0, end[gap]) : end[gap + 1] + 1].any()
                for keys, end in zip(self._keys, ends, strict=True)
            )
            accounted = all(fine[side][held[side]].all() for side in range(2))
            draws = any(drawing[side][held[side]].any() for side in range(2))
            span = Span(ends[1][gap] + 1, a, b, (one, other), accounted, draws, fused)
            spans.append(span)
            self._span_of |= {(side, each): span for side in range(2) for each in held[side]}
        return spans

    def _accounted(self, side: int, free: list[Any]) -> Any:
        """Return a mask of operations: whether an operation made no difference.

        It made none if the other trace has its results too, or if its results are read by an
        unpaired operation or by a pair with equal inputs. Operations that compiled code calls are
        assumed to make no difference, since invisible kernels read their results. So are operations
        that only return a number: the use of the number would show a difference.

        Args:
            side: The trace of the operations: 0 for A, 1 for B.
            free: For both traces, a mask of unpaired operations.
        """
        trace, keys = self._traces[side], self._keys[side]
        makes, theirs = trace.makes, self._traces[1 - side].makes
        readers = free[side].copy()
        readers[self._done[side][self._given_same]] = True
        right = np.isin(makes.digests, np.unique(theirs.digests)) | trace.read_later(readers)
        tensors = makes.of_kinds(lambda kind: bool(kind.dtype)) | (makes.digests == UNSEEN)
        graphs = np.array([call.operation == GRAPH for call in trace.calls], bool)[trace.of]
        inner = (keys.compiled & ~graphs) | keys.unwritten | ~makes.any(tensors)
        if self.rtol is not None:
            unmatched = free[side] & ~inner & ~makes.any(right)
            rows = np.flatnonzero(unmatched[makes.owners])
            near = free[1 - side].copy()
            near[self._done[1 - side][keys.compiled[self._done[side]]]] = True
            among = np.flatnonzero(near[theirs.owners])
            right[rows] = has_close(makes, rows, theirs, among, self.rtol)
        return makes.any(right) | inner

    # -- the first divergence ----------------------------------------------------------------------

    def _first(self, pair: int) -> FirstDifference | None:
        """Return the first divergence of the runs.

        Args:
            pair: The number of the first pair that diverges; the count of pairs if none does.
        """
        real = [each for each in self.spans if not each.accounted]
        if pair == self.aligned:
            return _of_span(real[0]) if real else None
        if self._given_same[pair]:
            return self._parting("operation", pair)
        tensors = self._differing_inputs(pair)
        if not tensors:
            return self._parting("argument", pair)
        before = [each for each in real if each.at <= self._operations(pair)[1]]
        kind = "input"
        if all(self.b.reads.table[each].dtype == STATE for _, _, each in tensors):
            before, kind = [each for each in before if each.draws], "draw"
        elif (found := self._came_from(tensors, pair)) is not None:
            return found
        return _of_span(before[-1]) if before else self._parting(kind, pair)

    def _came_from(self, tensors: list[tuple[int, int, int]], pair: int) -> FirstDifference | None:
        """Find the operations that created the differing inputs of a pair.

        Args:
            tensors: The differing inputs, from ``_differing_inputs``.
            pair: The pair.

        Returns:
            The difference in their creation; None if no recorded operation explains it.
        """
        ends, made = self._operations(pair), False
        for digests in tensors:
            for side in (1, 0):
                trace = self._traces[side]
                for maker in trace.makers(digests[side], ends[side]):
                    made = True
                    if self._keys[side].unwritten[maker]:
                        found = self._parting("unwritten", pair)
                        return replace(found, source=trace.operation(maker))
                    if (span := self._span_of.get((side, maker))) is not None:
                        span.accounted = False
                        return _of_span(span)
        # The creators are paired and their results equal: unrecorded code changed the tensor since.
        compiled = any(self._keys[side].compiled[ends[side]] for side in range(2))
        return self._parting("fused", pair) if made and compiled else None

    def _differing_inputs(self, pair: int) -> list[tuple[int, int, int]]:
        """Return the differing inputs of a pair of operations.

        Returns:
            For each input: its digest in A, its digest in B, and the index of its kind in B.
        """
        one, other = self.a.reads, self.b.reads
        at, to = self._operations(pair)
        mine, theirs = (np.r_[each] for each in (one.of(at), other.of(to)))
        if len(mine) == len(theirs):
            differ = one.digests[mine] != other.digests[theirs]
            if self.rtol is not None:
                differ &= ~(apart_each(one, mine, other, theirs) <= self.rtol)
            mine, theirs = mine[differ], theirs[differ]
        columns = one.digests[mine], other.digests[theirs], other.kinds[theirs]
        return [*zip(*(each.tolist() for each in columns), strict=False)]

    def _operations(self, pair: int) -> tuple[int, int]:
        """Return the indices of a pair's operations in A and in B."""
        return int(self._done[0][pair]), int(self._done[1][pair])

    def _parting(self, kind: str, pair: int) -> FirstDifference:
        at, to = self._operations(pair)
        apart = float(self._apart[pair])
        difference = None if np.isnan(apart) else apart
        return FirstDifference(kind, self.a.operation(at), self.b.operation(to), difference)


def _of_span(span: Span) -> FirstDifference:
    kind = "replaced" if span.a and span.b else "only-a" if span.a else "only-b"
    return FirstDifference("fused" if span.fused else kind, span.a, span.b, span=span)
