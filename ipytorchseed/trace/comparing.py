"""Compares two traces: finds divergence, rounding, and unpaired operations."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec.structs import replace

from ipytorchseed.errors import TraceError
from ipytorchseed.trace.aligning import Alignment, align
from ipytorchseed.trace.comparison import Comparison, FirstDifference, Rounding, Span
from ipytorchseed.trace.format import STATE, Place
from ipytorchseed.trace.keys import Keys, keys
from ipytorchseed.trace.loading import Loaded, Tensors
from ipytorchseed.trace.spans import Side, find_spans, makers
from ipytorchseed.trace.summaries import Distances

# The most places with different rounding that are reported.
_MOST = 10


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
    return _Comparing(a, b, rtol).comparison()


class _Comparing:
    """Compares the paired operations of two traces."""

    def __init__(self, a: Loaded, b: Loaded, rtol: float | None) -> None:
        self.a, self.b, self.rtol = a, b, rtol
        one, other = keys(a), keys(b)
        self.pairs: Alignment = align(one, other)
        self._compiled = one.compiled, other.compiled
        self._unwritten = one.unwritten, other.unwritten
        self._distances = Distances(a, b)
        self._judge(one, other)
        if rtol is not None:
            self._accept_rounding(rtol)
        mine, theirs = (Side(at, (a, b), (one, other), self.pairs) for at in range(2))
        self.spans, self._span_of = find_spans(mine, theirs, self.given_same, self._distances, rtol)

    def _judge(self, one: Keys, other: Keys) -> None:
        """Find the pairs with the same inputs, and the pairs with the same results."""
        at, to = self.pairs.a, self.pairs.b
        self.same_plain = one.plain[at] == other.plain[to]
        self.same_given = one.given[at] == other.given[to]
        seen = one.seen[at] & other.seen[to]
        self.same_made = (one.made[at] == other.made[to]) | ~seen | other.unwritten[to]
        self.apart = self._apart("makes", ~self.same_made)
        limit = -1.0 if self.rtol is None else self.rtol
        self.good = self.same_made | (self.apart <= limit)
        near = self.same_plain & (self._apart("reads", ~self.same_given) <= limit)
        self.given_same = self.same_given | near

    def _apart(self, side: str, chosen: Any) -> Any:
        """Return the distance of each pair: 0 if it is not chosen, NaN if unknown.

        Args:
            side: ``reads`` for the distance of inputs, ``makes`` for results.
            chosen: A mask of the pairs to compute.
        """
        found = np.zeros(len(chosen))
        found[chosen] = self._distances.of(side, self.pairs.a[chosen], self.pairs.b[chosen])
        return found

    def _accept_rounding(self, rtol: float) -> None:
        """Accept differences that the rounding of larger inputs explains.

        Rounding errors are relative to the numbers that are summed. For example, the gradient of a
        bias before a norm consists of rounding errors only. Results computed only from such tensors
        are compared on the scale of their inputs too. Stops at the first real divergence.
        """
        scales: dict[int, Any] = {}  # the scale of a tensor's rounding errors, by digest in B

        def rows(tensors: Tensors, operation: int) -> list[tuple[int, Any]]:
            chosen = tensors.of(operation)
            summaries = np.abs(tensors.summaries[chosen])
            return [*zip(tensors.digests[chosen].tolist(), summaries, strict=True)]

        for pair in np.flatnonzero(~self.good).tolist():
            at, to = int(self.pairs.a[pair]), int(self.pairs.b[pair])
            own = [scales.get(digest, row) for digest, row in rows(self.b.reads, to)
                   if row.any() and not np.isnan(row).any()]  # fmt: skip
            floor = np.min(own, axis=0) if own else np.zeros(3)
            self.apart[pair] = apart = float(
                self._distances.of("makes", self.pairs.a[[pair]], self.pairs.b[[pair]], floor)[0]
            )
            if apart <= rtol:
                self.good[pair] = True
                for digest, row in rows(self.b.makes, to):
                    scales[digest] = np.maximum(row, floor)
                continue
            inputs = self._differing_inputs(at, to)
            if self.same_plain[pair]:
                self.given_same[pair] |= all(theirs in scales for _, theirs, _ in inputs)
            return

    # -- the first divergence ----------------------------------------------------------------------

    def _first(self) -> tuple[FirstDifference | None, int]:
        """Return the first divergence of the runs, and the number of its pair.

        If no pair diverges, the number is the count of pairs.
        """
        wrong = np.flatnonzero(~self.good)
        real = [each for each in self.spans if not each.accounted]
        if not len(wrong):
            return (_of_span(real[0]) if real else None), len(self.good)
        pair = int(wrong[0])
        at, to = int(self.pairs.a[pair]), int(self.pairs.b[pair])
        if self.given_same[pair]:
            return self._parting("operation", pair), pair
        tensors = self._differing_inputs(at, to)
        before = [each for each in real if each.at <= to]
        states = [self.b.kinds[kind].dtype == STATE for _, _, kind in tensors]
        if not tensors:
            return self._parting("argument", pair), pair
        if all(states):
            drawing = [each for each in before if each.draws]
            return (_of_span(drawing[-1]) if drawing else self._parting("draw", pair)), pair
        return self._came_from(tensors, pair) or (
            _of_span(before[-1]) if before else self._parting("input", pair)
        ), pair

    def _came_from(self, tensors: list[tuple[int, int, int]], pair: int) -> FirstDifference | None:
        """Find the operations that created the differing inputs of a pair.

        Args:
            tensors: The differing inputs, from ``_differing_inputs``.
            pair: The pair.

        Returns:
            The difference in their creation; None if no recorded operation explains it.
        """
        at, to = int(self.pairs.a[pair]), int(self.pairs.b[pair])
        made = [
            (side, maker)
            for mine, theirs, _ in tensors
            for side, trace, digest, end in ((1, self.b, theirs, to), (0, self.a, mine, at))
            for maker in makers(trace, digest, end)
        ]
        for side, maker in made:
            if self._unwritten[side][maker]:
                source = (self.a, self.b)[side].operation(maker)
                return replace(self._parting("unwritten", pair), source=source)
            if (span := self._span_of.get((side, maker))) is not None:
                span.accounted = False
                return _of_span(span)
        # The creators are paired and their results equal: unrecorded code changed the tensor since.
        compiled = self._compiled[0][at] or self._compiled[1][to]
        return self._parting("fused", pair) if made and compiled else None

    def _differing_inputs(self, at: int, to: int) -> list[tuple[int, int, int]]:
        """Return the differing inputs of a pair of operations.

        Returns:
            For each input: its digest in A, its digest in B, and the index of its kind in B.
        """
        one, other = self.a.reads, self.b.reads
        mine, theirs = (np.arange(each.start, each.stop) for each in (one.of(at), other.of(to)))
        if len(mine) == len(theirs):
            differ = one.digests[mine] != other.digests[theirs]
            if self.rtol is not None:
                differ &= ~(self._distances.each(one, mine, other, theirs) <= self.rtol)
            mine, theirs = mine[differ], theirs[differ]
        columns = one.digests[mine], other.digests[theirs], other.kinds[theirs]
        return [*zip(*(each.tolist() for each in columns), strict=False)]

    def _parting(self, kind: str, pair: int) -> FirstDifference:
        apart = float(self.apart[pair])
        return FirstDifference(
            kind=kind,
            a=self.a.operation(int(self.pairs.a[pair])),
            b=self.b.operation(int(self.pairs.b[pair])),
            difference=None if apart != apart else apart,  # noqa: PLR0124 -- NaN
        )

    # -- the result --------------------------------------------------------------------------------

    def comparison(self) -> Comparison:
        """Return the result of the comparison."""
        first, until = self._first()
        caught = np.flatnonzero(self.given_same & ~self.good)
        theirs = self.b.header.settings
        return Comparison(
            a=self.a,
            b=self.b,
            rtol=self.rtol,
            aligned=len(self.good),
            moved=int(np.count_nonzero(~self.pairs.ordered)),
            differing=int(np.count_nonzero(~self.same_made)),
            first=first,
            operation=self._parting("operation", int(caught[0])) if len(caught) else None,
            spans=self.spans,
            roundings=self._roundings(until),
            settings=[
                (name, value, theirs[name])
                for name, value in self.a.header.settings.items()
                if theirs.get(name, value) != value
            ],
        )

    def _roundings(self, until: int) -> list[Rounding]:
        found: dict[tuple[str, Place], list[int]] = {}
        for pair in np.flatnonzero(~self.same_made[:until] & self.good[:until]).tolist():
            at = int(self.pairs.b[pair])
            found.setdefault((self.b.name(at), self.b.place(at)), []).append(pair)
        return [
            Rounding(
                operation=self.b.operation(int(self.pairs.b[held[0]])),
                count=len(held),
                largest=float(self.apart[held].max()),
            )
            for held in [*found.values()][:_MOST]
        ]


def _of_span(span: Span) -> FirstDifference:
    kind = "replaced" if span.a and span.b else "only-a" if span.a else "only-b"
    return FirstDifference("fused" if span.fused else kind, span.a, span.b, span=span)
