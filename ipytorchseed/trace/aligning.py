"""Pairs the corresponding operations of two traces.

This works in four passes. The first pairs operations with equal inputs that occur once in each
trace, in the longest common order (patience diff, Bram Cohen). Between these pairs, the second pass
pairs equal operations at equal places, and the third pairs equal operations at any places. The last
pass pairs remaining operations with equal inputs: they moved.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
from msgspec import Struct

from ipytorchseed.trace.keys import Keys

Pairs = tuple[Any, Any]

# To find where two traces agree again: how many operations in a row must be equal, and how far
# ahead to search. The steps are tried in order.
_STEPS = ((4, 256), (4, 4096), (1, 65_536))


class Alignment(Struct):
    """Pairs of operations, by index.

    Attributes:
        a: The indices of the pairs in the first trace, in the order of ``b``.
        b: The indices of the pairs in the second trace, ascending.
        ordered: Whether each pair is in the same order in both traces. If not, it moved.
    """

    a: Any
    b: Any
    ordered: Any


def align(a: Keys, b: Keys) -> Alignment:
    """Pair the operations of two traces."""
    begin = _common(a.anchor, b.anchor)
    pairs: Pairs = (np.arange(begin), np.arange(begin))
    for name, method in (("anchor", _anchors), ("exact", _walk), ("named", _walk)):
        one, other = getattr(a, name), getattr(b, name)
        found = [pairs]
        for at, to in _gaps(pairs, len(one), len(other)):
            left, right = method(one[at], other[to])
            found.append((left + at.start, right + to.start))
        left, right = zip(*found, strict=True)
        pairs = np.sort(np.concatenate(left)), np.sort(np.concatenate(right))
    return _with_moved(pairs, a, b)


def _gaps(pairs: Pairs, a_end: int, b_end: int) -> Iterator[tuple[slice, slice]]:
    """Yield the gaps between pairs in which both traces have unpaired operations."""
    at = to = 0
    ends = ([*side.tolist(), end] for side, end in zip(pairs, (a_end, b_end), strict=True))
    for at_end, to_end in zip(*ends, strict=True):
        if at < at_end and to < to_end:
            yield slice(at, at_end), slice(to, to_end)
        at, to = at_end + 1, to_end + 1


def _anchors(x: Any, y: Any) -> Pairs:
    """Pair keys that occur once in both arrays, in the longest common order."""
    if len(x) == len(y) == 1:
        same = np.flatnonzero(x == y)
        return same, same
    once = []
    for side in (x, y):
        keys, first, counts = np.unique(side, return_index=True, return_counts=True)
        once.append((keys[counts == 1], first[counts == 1]))
    (one, at), (other, to) = once
    _, mine, theirs = np.intersect1d(one, other, assume_unique=True, return_indices=True)
    left, right = at[mine], to[theirs]
    order = np.argsort(left)
    kept = order[_longest_rising(right[order])]
    return left[kept], right[kept]


def _longest_rising(numbers: Any) -> Any:
    """Return the indices of the longest increasing subsequence: patience sorting."""
    if bool(np.all(np.diff(numbers) > 0)):
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
    """Pair equal keys along two arrays, skipping stretches that differ."""
    grams = {size: (_grams(x, size), _grams(y, size)) for size, _ in _STEPS}
    left, right = [np.empty(0, int)], [np.empty(0, int)]
    onward: tuple[int, int] | None = (0, 0)
    while onward is not None:
        i, j = onward
        run = _common(x[i:], y[j:])
        left.append(np.arange(i, i + run))
        right.append(np.arange(j, j + run))
        onward = _resync(grams, i + run, j + run)
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
    """Return a hash of each stretch of ``size`` numbers, padded with zeros at the end."""
    total = np.zeros(len(x), np.int64)
    for step in range(min(size, len(x))):
        total[: len(x) - step] += x[step:] * (2 * step + 1)
    return total


def _resync(grams: dict[int, Pairs], i: int, j: int) -> tuple[int, int] | None:
    """Return the next positions from which two arrays agree again, or None.

    Args:
        grams: The hashes of stretches in both arrays, by the length of the stretch.
        i: The position in the first array.
        j: The position in the second array.
    """
    for size, far in _STEPS:
        one, other = grams[size]
        _, p, q = np.intersect1d(one[i : i + far], other[j : j + far], return_indices=True)
        if len(p):
            nearest = int(np.argmin(p + q))
            return i + int(p[nearest]), j + int(q[nearest])
    return None


def _with_moved(pairs: Pairs, a: Keys, b: Keys) -> Alignment:
    """Add pairs of operations that moved: those with equal inputs, in order."""
    rest = [
        np.setdiff1d(np.arange(len(each.anchor)), done, assume_unique=True)
        for each, done in zip((a, b), pairs, strict=True)
    ]
    waiting: dict[int, deque[int]] = {}
    for to, key in zip(rest[1].tolist(), b.anchor[rest[1]].tolist(), strict=True):
        waiting.setdefault(key, deque()).append(to)
    moved = [
        (at, others.popleft())
        for at, key in zip(rest[0].tolist(), a.anchor[rest[0]].tolist(), strict=True)
        if (others := waiting.get(key))
    ]
    left, right = np.concatenate([np.transpose(pairs), np.array(moved, int).reshape(-1, 2)]).T
    order = np.argsort(right, kind="stable")
    return Alignment(left[order], right[order], order < len(pairs[0]))
