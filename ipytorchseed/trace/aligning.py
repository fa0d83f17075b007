"""Pairs the corresponding operations of two traces.

This works in three passes. The first pairs operations with equal inputs at equal places. Between
these pairs, the second pass pairs equal operations at equal places, and the third pairs equal
operations at any place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ipytorchseed.trace.compiled import COMPILED
from ipytorchseed.trace.digests import UNSEEN
from ipytorchseed.trace.format import Call, Place
from ipytorchseed.trace.loading import Loaded, Tensors
from ipytorchseed.trace.operations import is_unwritten

Pairs = tuple[Any, Any]

# To find where two traces agree again: how many operations in a row must be equal, and how far
# ahead to search. The steps are tried in order.
_STEPS = ((4, 256), (4, 4096), (1, 1 << 24))

# Parts of a module's path that belong to wrappers around modules.
_WRAPPERS = ("_orig_mod", "module", "_fsdp_wrapped_module", "_checkpoint_wrapped_module", COMPILED)


class Keys:
    """Arrays with one item for each operation of a trace.

    ``given``, ``made``, ``anchor``, ``exact`` and ``named`` are hashes that can be compared only
    within one process.

    Args:
        trace: The trace.

    Attributes:
        given: The hash of the inputs: tensors and other arguments.
        made: The hash of the results.
        plain: The digest of the arguments that are not tensors.
        seen: Whether all tensors of the operation could be read.
        anchor: The hash of the operation's name, place and inputs.
        exact: The hash of the operation's name and place, and of its tensors' shapes and dtypes.
        named: The hash of the operation's name.
        compiled: Whether the operation is a run of compiled code, or happened in one.
        unwritten: Whether the operation returns uninitialized memory, which is not compared.
    """

    def __init__(self, trace: Loaded) -> None:
        def of_calls(value: Callable[[Call], object]) -> Any:
            return np.array([hash(value(call)) for call in trace.calls], np.int64)[trace.of]

        def combined(*columns: Any) -> Any:
            return np.fromiter(map(hash, zip(*columns, strict=True)), np.int64, len(trace))

        reads, makes = trace.reads, trace.makes
        self.named = of_calls(lambda call: call.operation)
        placed = of_calls(lambda call: (call.operation, *_place_key(call.place))).tolist()
        self.plain = of_calls(lambda call: call.plain)
        self.given = combined(_bytes(reads, reads.digests), self.plain.tolist())
        self.made = combined(_bytes(makes, makes.digests))
        self.seen = ~(reads.any(reads.digests == UNSEEN) | makes.any(makes.digests == UNSEEN))
        self.anchor = combined(placed, self.given.tolist())
        kinds = (_bytes(each, each.of_kinds(hash)) for each in (reads, makes))
        self.exact = combined(placed, *kinds)
        self.compiled = of_calls(lambda call: call.place.module.endswith(COMPILED)).astype(bool)
        self.unwritten = of_calls(lambda call: is_unwritten(call.operation)).astype(bool)


def _bytes(tensors: Tensors, values: Any) -> Iterator[bytes]:
    """Yield, for each operation, its tensors' values as bytes."""
    data, begin = values.tobytes(), 0
    for end in (tensors.ends * values.itemsize).tolist():
        yield data[begin:end]
        begin = end


def _place_key(place: Place) -> tuple[object, ...]:
    """Return a key for a place: its line, and its module's path.

    The path omits the outermost name, which users choose, and wrappers.
    """
    path = [each for each in place.module.split(".")[1:] if each not in _WRAPPERS]
    return place.code or place.line, *path, place.backward


def align(a: Keys, b: Keys) -> Pairs:
    """Pair the operations of two traces.

    Returns:
        The indices of the pairs in the first trace and in the second trace, both ascending.
    """
    pairs: Pairs = (np.arange(0), np.arange(0))
    for one, other in ((a.anchor, b.anchor), (a.exact, b.exact), (a.named, b.named)):
        found = [pairs]
        for at, to in _gaps(pairs, len(one), len(other)):
            left, right = _walk(one[at], other[to])
            found.append((left + at.start, right + to.start))
        left, right = zip(*found, strict=True)
        pairs = np.sort(np.concatenate(left)), np.sort(np.concatenate(right))
    return pairs


def _gaps(pairs: Pairs, a_end: int, b_end: int) -> Iterator[tuple[slice, slice]]:
    """Yield the gaps between pairs in which both traces have unpaired operations."""
    at = to = 0
    ends = ([*side.tolist(), end] for side, end in zip(pairs, (a_end, b_end), strict=True))
    for at_end, to_end in zip(*ends, strict=True):
        if at < at_end and to < to_end:
            yield slice(at, at_end), slice(to, to_end)
        at, to = at_end + 1, to_end + 1


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
