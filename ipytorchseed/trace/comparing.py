"""Compares two traces: where they first part, what only rounds differently, what only one has."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ipytorchseed.errors import TraceError
from ipytorchseed.trace.aligning import align
from ipytorchseed.trace.comparison import (
    Bucket,
    Comparison,
    Operation,
    Parting,
    Rounding,
    Span,
)
from ipytorchseed.trace.file import STATE
from ipytorchseed.trace.keys import any_of, keys

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ipytorchseed.trace.aligning import Alignment
    from ipytorchseed.trace.file import Where
    from ipytorchseed.trace.loading import Loaded, Tensors

_BUCKETS = 200
"""Stretches of the run of which the picture shows the difference."""

_MOST = 10
"""Places at which results differ in rounding that are told."""

_FLOATS = ("float", "bfloat", "complex")


def compare(a: Loaded, b: Loaded, rtol: float | None = None) -> Comparison:
    """Compare two traces.

    Args:
        a: The one.
        b: The other.
        rtol: How far results may be apart, beside their greatest value or their norm.

    Raises:
        TraceError: A tolerance is asked for, and a trace has no summaries.
    """
    for each in (a, b) if rtol is not None else ():
        if not each.header.summaries:
            raise TraceError(
                f"{each.path} keeps digests alone, and --rtol needs more: record it with"
                " its.trace(FILE, summaries=True), or %%deterministic --trace FILE --summaries"
            )
    return _Comparing(a, b, rtol).comparison()


class _Comparing:
    """What is known of the pairs of two traces."""

    def __init__(self, a: Loaded, b: Loaded, rtol: float | None) -> None:
        import numpy as np

        self.a, self.b, self.rtol = a, b, rtol
        one, other = keys(a), keys(b)
        self.pairs: Alignment = align(one, other)
        at, to = self.pairs.a, self.pairs.b
        self.same_plain = one.plain[at] == other.plain[to]
        self.same_given = one.given[at] == other.given[to]
        seen = one.seen[at] & other.seen[to]
        self.same_made = (one.made[at] == other.made[to]) | ~seen
        self.apart = self._apart("makes", ~self.same_made)
        limit = -1.0 if rtol is None else rtol
        self.good = self.same_made | (self.apart <= limit)
        near = self.same_plain & (self._apart("reads", ~self.same_given) <= limit)
        self.given_same = self.same_given | near
        if rtol is not None:
            self._excuse(rtol)
        self.spans: list[Span] = []
        self._span_of: dict[tuple[str, int], Span] = {}
        self._find_spans()
        self._np = np

    # -- distances ---------------------------------------------------------------------------------

    def _apart(self, side: str, chosen: Any) -> Any:  # noqa: ANN401 -- columns
        """Return how far the tensors of pairs are apart: 0 for those not chosen, NaN if unknown."""
        import numpy as np

        found = np.where(chosen, np.nan, 0.0)
        one: Tensors = getattr(self.a, side)
        other: Tensors = getattr(self.b, side)
        if not (one.summaries.shape[1] and other.summaries.shape[1]):
            return found
        rows = np.flatnonzero(chosen)
        at, to = self.pairs.a[rows], self.pairs.b[rows]
        counts = np.diff(one.ends, prepend=0)[at]
        alike = (counts == np.diff(other.ends, prepend=0)[to]) & (counts > 0)
        rows, at, to, counts = rows[alike], at[alike], to[alike], counts[alike]
        if not len(rows):
            return found
        begins = np.cumsum(counts) - counts
        step = np.arange(int(counts.sum())) - np.repeat(begins, counts)
        left = np.repeat(one.ends[at] - counts, counts) + step
        right = np.repeat(other.ends[to] - counts, counts) + step
        distances = _distances(one.summaries[left], other.summaries[right])
        same = one.digests[left] == other.digests[right]
        kinds_a, kinds_b = _ids(self.a, self.b)
        kinds = kinds_a[one.kinds[left]]
        rounds = np.array([each.dtype.startswith(_FLOATS) for each in self.a.kinds] or [False])
        fits = (kinds == kinds_b[other.kinds[right]]) & rounds[one.kinds[left]]
        distances[~fits] = np.inf
        numbers = np.array([not each.dtype for each in self.a.kinds] or [False])
        distances[same | numbers[one.kinds[left]]] = 0.0  # numbers: read out, as by `item`
        found[rows] = np.maximum.reduceat(distances, begins)
        return found

    def _excuse(self, rtol: float) -> None:
        """Accept results that are small beside all they were made of, up to where the runs part.

        Rounding is as large as what is added up: the gradient of a bias in front of a norm is
        nothing but rounding. What is made of such a result alone is no better.
        """
        import numpy as np

        scales: dict[int, Any] = {}  # what a tensor's rounding is measured by, by B's digest
        for pair in np.flatnonzero(~self.good).tolist():
            at, to = int(self.pairs.a[pair]), int(self.pairs.b[pair])
            given, made = self.a.reads.of(at), self.b.reads.of(to)
            one, other = self.a.reads, self.b.reads
            own = [
                scales.get(digest, row)
                for digest, row in zip(
                    other.digests[made].tolist(), np.abs(other.summaries[made]), strict=True
                )
                if not np.isnan(row).any()
            ]
            floor = np.min(own, axis=0) if own else np.zeros(3)
            self.apart[pair] = apart = self._beside(at, to, floor)
            if apart <= rtol:
                self.good[pair] = True
                results = self.b.makes.of(to)
                for digest, row in zip(
                    self.b.makes.digests[results].tolist(),
                    np.abs(self.b.makes.summaries[results]),
                    strict=True,
                ):
                    scales[digest] = np.maximum(row, floor)
                continue
            if self.same_plain[pair] and given.stop - given.start == made.stop - made.start:
                near = _distances(one.summaries[given], other.summaries[made]) <= rtol
                known = np.isin(other.digests[made], np.array([*scales], np.uint64))
                same = one.digests[given] == other.digests[made]
                self.given_same[pair] |= bool((near | known | same).all())
            return

    def _beside(self, at: int, to: int, floor: Any) -> float:  # noqa: ANN401 -- a row
        """Return how far the results of a pair are apart, beside at least so much."""
        one, other = self.a.makes.of(at), self.b.makes.of(to)
        mine, theirs = self.a.makes, self.b.makes
        if one.stop - one.start != other.stop - other.start:
            return float("inf")
        kinds = [self.a.kinds[kind] for kind in mine.kinds[one].tolist()]
        if kinds != [self.b.kinds[kind] for kind in theirs.kinds[other].tolist()]:
            return float("inf")
        apart = _distances(mine.summaries[one], theirs.summaries[other], floor)
        same = mine.digests[one] == theirs.digests[other]
        exact = [not each.dtype.startswith(_FLOATS) for each in kinds]
        apart[exact] = float("inf")
        apart[same] = 0.0
        return float(apart.max())

    # -- what only one has -------------------------------------------------------------------------

    def _find_spans(self) -> None:
        import numpy as np

        pairs = self.pairs
        at, to = pairs.a[pairs.ordered], pairs.b[pairs.ordered]
        sides: dict[str, dict[int, list[int]]] = {}
        accounted = {}
        for side, trace, other, done, ordered in (
            ("a", self.a, self.b, pairs.a, at),
            ("b", self.b, self.a, pairs.b, to),
        ):
            free = np.ones(len(trace), bool)
            free[done] = False
            rest = np.flatnonzero(free)
            gaps: dict[int, list[int]] = {}
            for gap, each in zip(np.searchsorted(ordered, rest), rest.tolist(), strict=True):
                gaps.setdefault(int(gap), []).append(each)
            sides[side] = gaps
            free[done[self.given_same]] = True  # what they read was right, or of one run only
            right = np.isin(trace.makes.digests, np.unique(other.makes.digests))
            accounted[side] = any_of(trace.makes, right | _read_later(trace, free))
        for gap in sorted({*sides["a"], *sides["b"]}):
            mine, theirs = sides["a"].get(gap, []), sides["b"].get(gap, [])
            span = Span(
                at=int(to[gap - 1]) + 1 if gap else 0,
                a=_operation(self.a, mine[0]) if mine else None,
                b=_operation(self.b, theirs[0]) if theirs else None,
                count_a=len(mine),
                count_b=len(theirs),
                names_a=_names(self.a, mine),
                names_b=_names(self.b, theirs),
                accounted=bool(accounted["a"][mine].all() and accounted["b"][theirs].all()),
                draws=_draws(self.a, mine) or _draws(self.b, theirs),
            )
            self.spans.append(span)
            for side, held in (("a", mine), ("b", theirs)):
                self._span_of.update(((side, each), span) for each in held)

    # -- where they part ---------------------------------------------------------------------------

    def _first(self) -> tuple[Parting | None, int]:
        """Find where the runs part; the pair's number too, or that past the last."""
        np = self._np
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
        for mine, theirs, _ in tensors:
            for side, trace, digest, end in (("b", self.b, theirs, to), ("a", self.a, mine, at)):
                maker = _maker(trace, digest, end)
                span = None if maker is None else self._span_of.get((side, maker))
                if span is not None and not span.accounted:
                    return _of_span(span), pair
        return (_of_span(before[-1]) if before else self._parting("input", pair)), pair

    def _differing_inputs(self, at: int, to: int) -> list[tuple[int, int, int]]:
        """List the tensors of which a pair was given different ones: digests, and B's kind."""
        one, other = self.a.reads, self.b.reads
        mine, theirs, kinds = (
            column.tolist()
            for column in (
                one.digests[one.of(at)],
                other.digests[other.of(to)],
                other.kinds[other.of(to)],
            )
        )
        if len(mine) != len(theirs):
            return [*zip(mine, theirs, kinds, strict=False)]
        return [each for each in zip(mine, theirs, kinds, strict=True) if each[0] != each[1]]

    def _parting(self, kind: str, pair: int) -> Parting:
        apart = float(self.apart[pair])
        return Parting(
            kind=kind,
            a=_operation(self.a, int(self.pairs.a[pair])),
            b=_operation(self.b, int(self.pairs.b[pair])),
            difference=None if apart != apart else apart,  # noqa: PLR0124 -- NaN
        )

    # -- all of it ---------------------------------------------------------------------------------

    def comparison(self) -> Comparison:
        """Return what was found."""
        np = self._np
        first, until = self._first()
        caught = np.flatnonzero(self.given_same & ~self.good)
        settings = (self.a.header.settings, self.b.header.settings)
        names = [name for name in settings[0] if name in settings[1]]
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
            curve=[*self._curve()],
            settings=[
                (name, settings[0][name], settings[1][name])
                for name in names
                if settings[0][name] != settings[1][name]
            ],
        )

    def _roundings(self, until: int) -> list[Rounding]:
        np = self._np
        found: dict[tuple[str, Where], list[int]] = {}
        for pair in np.flatnonzero(~self.same_made[:until] & self.good[:until]).tolist():
            at = int(self.pairs.b[pair])
            found.setdefault((self.b.name(at), self.b.place(at)), []).append(pair)
        return [
            Rounding(
                operation=_operation(self.b, int(self.pairs.b[held[0]])),
                count=len(held),
                largest=float(self.apart[held].max()),
            )
            for held in [*found.values()][:_MOST]
        ]

    def _curve(self) -> Iterator[Bucket]:
        np = self._np
        for part in np.array_split(np.arange(len(self.good)), min(_BUCKETS, len(self.good) or 1)):
            if not len(part):
                continue
            known = self.apart[part]
            known = known[~np.isnan(known)]
            yield Bucket(
                begin=int(self.pairs.b[part[0]]),
                count=len(part),
                differing=int(np.count_nonzero(~self.same_made[part])),
                largest=float(known.max()) if len(known) else None,
            )


def _read_later(trace: Loaded, readers: Any) -> Any:  # noqa: ANN401 -- columns
    """Tell of each tensor that operations gave whether one of the readers is given it later."""
    import numpy as np

    counts = np.diff(trace.reads.ends, prepend=0)
    by = np.repeat(np.arange(len(trace)), counts)
    chosen = np.repeat(readers, counts)
    digests, last = np.unique(trace.reads.digests[chosen][::-1], return_index=True)
    if not len(digests):
        return np.zeros(len(trace.makes.digests), bool)
    found = np.minimum(np.searchsorted(digests, trace.makes.digests), len(digests) - 1)
    maker = np.repeat(np.arange(len(trace)), np.diff(trace.makes.ends, prepend=0))
    later = by[chosen][::-1][last][found] > maker
    return (digests[found] == trace.makes.digests) & later


def _distances(one: Any, other: Any, floor: Any = 0.0) -> Any:  # noqa: ANN401 -- rows of summaries
    """Return how far tensors are apart at least, by their summaries, beside at least ``floor``."""
    import numpy as np

    one, other = one.astype(np.float64), other.astype(np.float64)
    with np.errstate(all="ignore"):
        apart = np.where(one == other, 0.0, np.abs(one - other))
        scale = np.maximum(np.maximum(np.abs(one), np.abs(other)), floor)
        scale[:, 1] = scale[:, 0]  # a mean beside the greatest value
        apart = np.where(apart == 0, 0.0, apart / scale)
    lost = np.isnan(one) != np.isnan(other)
    apart[np.isnan(one) & np.isnan(other)] = 0.0
    apart[lost] = np.inf
    return np.nan_to_num(apart, nan=np.inf, posinf=np.inf).max(axis=1)


def _ids(a: Loaded, b: Loaded) -> tuple[Any, Any]:
    """Return common numbers for the kinds of both traces."""
    import numpy as np

    numbers = {kind: at for at, kind in enumerate(dict.fromkeys([*a.kinds, *b.kinds]))}
    return tuple(  # type: ignore[return-value] # of two
        np.array([numbers[kind] for kind in each.kinds] or [0]) for each in (a, b)
    )


def _operation(trace: Loaded, at: int) -> Operation:
    """Describe an operation."""
    kinds = [trace.kinds[each] for each in trace.reads.kinds[trace.reads.of(at)].tolist()]
    words = [f"{each.dtype}{list(each.shape)}" for each in kinds if each.dtype not in ("", STATE)]
    text = trace.call(at).text
    return Operation(
        name=trace.name(at),
        index=at,
        thread=int(trace.threads[at]),
        place=trace.place(at),
        given=", ".join([*words, text] if text else words),
    )


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


def _maker(trace: Loaded, digest: int, end: int) -> int | None:
    """Return the last operation before another that gave a tensor; None where none did."""
    import numpy as np

    stop = trace.makes.of(end).start
    found = np.flatnonzero(trace.makes.digests[:stop] == np.uint64(digest))
    if not len(found):
        return None
    return int(np.searchsorted(trace.makes.ends, found[-1], side="right"))


def _of_span(span: Span) -> Parting:
    kind = "replaced" if span.a and span.b else "only-a" if span.a else "only-b"
    return Parting(kind, span.a, span.b, span=span)
