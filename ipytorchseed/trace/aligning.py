"""Pairs the corresponding operations of two traces.

First come operations with equal inputs that occur once in both, in the longest common order:
patience diff (Bram Cohen). Between them, runs of the same operations at the same places,
confirmed by the next few that agree; then the rest by ever weaker similarity. Remaining
operations are paired if they only moved.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from typing import Any

import numpy as np
from msgspec import Struct

from ipytorchseed.trace.keys import Keys, mix

Pairs = tuple[Any, Any]


# Products of the lengths of both sides up to which difflib is used.
_SMALL = 4096

# How many operations in a row must agree, and the distance within which to search for them.
_STEPS = ((16, 256), (4, 256), (16, 4096), (16, 65_536), (4, 4096), (1, 256), (1, 65_536))

# How close pairs with equal inputs must be to each other, and how many of them.
_CLOSE, _COMPANY = 32, 4

# The diagonals that are tried, and how far each is followed.
_DIAGONALS, _AHEAD = 8, 1024


class Alignment(Struct):
    """Pairs of operations, by index.

    Attributes:
        a: Indices in the one trace, in the order of ``b``.
        b: Indices in the other, ascending.
        ordered: Which pairs have the same order in both; the others moved.
    """

    a: Any
    b: Any
    ordered: Any


def align(a: Keys, b: Keys) -> Alignment:
    """Pair the operations of two traces."""
    begin = _common(a.anchor, b.anchor)
    pairs: Pairs = (np.arange(begin), np.arange(begin))
    steps: tuple[tuple[str, Callable[[Any, Any], Pairs]], ...] = (
        ("anchor", _anchors),
        ("anchor_anywhere", _anchors),
        ("exact", _walk),
        ("placed", _walk),
        ("shaped", _walk),
        ("named", _walk),
    )
    for name, method in steps:
        one, other = getattr(a, name), getattr(b, name)
        found = [pairs]
        for (a_from, a_to), (b_from, b_to) in _gaps(pairs, len(one), len(other)):
            left, right = method(one[a_from:a_to], other[b_from:b_to])
            found.append((left + a_from, right + b_from))
        left, right = zip(*found, strict=True)
        pairs = np.sort(np.concatenate(left)), np.sort(np.concatenate(right))
    return _with_moved(pairs, a, b)


def _gaps(pairs: Pairs, a_end: int, b_end: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yield the gaps between pairs in which both have operations left."""
    bounds = [
        np.stack([np.concatenate([[0], side + 1]), np.concatenate([side, [end]])], 1)
        for side, end in zip(pairs, (a_end, b_end), strict=True)
    ]
    open_ = np.flatnonzero(np.all([each[:, 1] > each[:, 0] for each in bounds], axis=0))
    for each in open_:
        yield tuple((int(side[each, 0]), int(side[each, 1])) for side in bounds)


def _anchors(x: Any, y: Any) -> Pairs:
    """Pair what occurs once in both, in the longest common order."""
    if len(x) == len(y) == 1:
        same = np.flatnonzero(x == y)
        return same, same
    once = []
    for side in (x, y):
        values, first, counts = np.unique(side, return_index=True, return_counts=True)
        once.append((values[counts == 1], first[counts == 1]))
    (x_values, x_first), (y_values, y_first) = once
    _, at_x, at_y = np.intersect1d(x_values, y_values, assume_unique=True, return_indices=True)
    left, right = x_first[at_x], y_first[at_y]
    order = np.argsort(left)
    left, right = left[order], right[order]
    kept = _longest_rising(right)
    left, right = left[kept], right[kept]
    if len(x) * len(y) > _SMALL:
        kept = _have_neighbours(left, right)
        left, right = left[kept], right[kept]
    return left, right


def _have_neighbours(left: Any, right: Any) -> Any:
    """Return which pairs have others close by.

    In runs that diverged, single ones agree by chance.
    """
    apart = np.maximum(np.diff(left, prepend=-_CLOSE), np.diff(right, prepend=-_CLOSE)) >= _CLOSE
    chain = np.cumsum(apart)
    return np.bincount(chain)[chain] >= _COMPANY


def _longest_rising(numbers: Any) -> Any:
    """Return the indices of the longest increasing subsequence: patience sorting."""
    if len(numbers) == 0 or bool(np.all(np.diff(numbers) > 0)):
        return np.arange(len(numbers))
    tops: list[int] = []
    at: list[int] = []
    before = [-1] * len(numbers)
    for index, number in enumerate(numbers.tolist()):
        pile = bisect_left(tops, number)
        if pile:
            before[index] = at[pile - 1]
        if pile == len(tops):
            tops.append(number)
            at.append(index)
        else:
            tops[pile], at[pile] = number, index
    found = [at[-1]]
    while before[found[-1]] >= 0:
        found.append(before[found[-1]])
    return np.array(found[::-1])


def _walk(x: Any, y: Any) -> Pairs:
    """Pair what agrees along both, step by step."""
    if len(x) * len(y) <= _SMALL:
        return _match(x, y)
    grams = {size: (_grams(x, size), _grams(y, size)) for size, _ in _STEPS}
    i = j = 0
    found: list[tuple[int, int, int]] = []
    while True:
        run = _common(x[i:], y[j:])
        found.append((i, j, run))
        i, j = i + run, j + run
        if i >= len(x) or j >= len(y):
            break
        onward = _resync(x, y, i, j, grams)
        if onward is None:
            break
        i, j = onward
    runs = [(np.arange(i, i + run), np.arange(j, j + run)) for i, j, run in found]
    left, right = zip(*runs, strict=True)
    return np.concatenate(left), np.concatenate(right)


def _match(x: Any, y: Any) -> Pairs:
    """Pair what agrees in short stretches."""
    if len(x) == len(y) and bool(np.all(x == y)):
        return np.arange(len(x)), np.arange(len(y))
    blocks = SequenceMatcher(None, x.tolist(), y.tolist(), autojunk=False).get_matching_blocks()
    left = [np.arange(each.a, each.a + each.size) for each in blocks]
    right = [np.arange(each.b, each.b + each.size) for each in blocks]
    return np.concatenate(left), np.concatenate(right)


def _common(x: Any, y: Any) -> int:
    """Return the length of the common prefix."""
    end, begin, size = min(len(x), len(y)), 0, 64
    while begin < end:
        stop = min(end, begin + size)
        other = np.flatnonzero(x[begin:stop] != y[begin:stop])
        if len(other):
            return begin + int(other[0])
        begin, size = stop, size * 4
    return end


def _grams(x: Any, size: int) -> Any:
    """Number each stretch of so many numbers, padded with zeros at the end."""
    total = np.zeros(len(x), np.uint64)
    for step in range(min(size, len(x))):
        total[: len(x) - step] += mix(x[step:] + np.uint64(step))
    return total


def _resync(x: Any, y: Any, i: int, j: int, grams: dict[int, Pairs]) -> tuple[int, int] | None:
    """Return where both agree again, or None."""
    for size, far in _STEPS:
        one, other = grams[size]
        here, there = one[i : i + far], other[j : j + far]
        _, p, q = np.intersect1d(here, there, return_indices=True)  # the first of each
        best, onward, tried = 0, None, set()
        for each in np.argsort(p + q, kind="stable"):
            skipped, diagonal = int(p[each] + q[each]), int(p[each] - q[each])
            if diagonal in tried:
                continue
            tried.add(diagonal)
            at = i + int(p[each]), j + int(q[each])
            run = _common(x[at[0] : at[0] + _AHEAD], y[at[1] : at[1] + _AHEAD])
            if run and (onward is None or run - skipped > best):
                best, onward = run - skipped, at
            if len(tried) == _DIAGONALS:
                break
        if onward is not None:
            return onward
    return None


def _with_moved(pairs: Pairs, a: Keys, b: Keys) -> Alignment:
    """Add pairs that moved: with equal inputs, or similar ones close by."""
    left, right = [pairs[0]], [pairs[1]]
    free = [np.ones(len(each.named), bool) for each in (a, b)]
    for side, done in zip(free, pairs, strict=True):
        side[done] = False
    gaps = [
        np.searchsorted(done, np.arange(len(side))).astype(np.uint64)
        for side, done in zip(free, pairs, strict=True)
    ]
    for one, other in (
        (a.anchor, b.anchor),
        (a.anchor_anywhere, b.anchor_anywhere),
        (mix(a.exact + gaps[0]), mix(b.exact + gaps[1])),
        tuple(
            mix(each.shaped + gap // np.uint64(_CLOSE // 2))
            for each, gap in zip((a, b), gaps, strict=True)
        ),
    ):
        rest = [np.flatnonzero(side) for side in free]
        at_a, at_b = _ranked(one[rest[0]], other[rest[1]])
        left.append(rest[0][at_a])
        right.append(rest[1][at_b])
        free[0][left[-1]] = free[1][right[-1]] = False
    found_a, found_b = np.concatenate(left), np.concatenate(right)
    order = np.argsort(found_b, kind="stable")
    return Alignment(found_a[order], found_b[order], (np.arange(len(order)) < len(pairs[0]))[order])


def _ranked(x: Any, y: Any) -> Pairs:
    """Pair equal numbers, the first with the first, the second with the second."""
    ranked = []
    for side in (x, y):
        order = np.argsort(side, kind="stable")
        ordered = side[order]
        begins = np.searchsorted(ordered, ordered)
        rank = np.empty(len(side), np.uint64)
        rank[order] = np.arange(len(side)) - begins
        ranked.append(mix(side + mix(rank)))
    _, at_x, at_y = np.intersect1d(*ranked, return_indices=True)
    return at_x, at_y
