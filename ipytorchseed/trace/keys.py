"""Computes keys by which the operations of two traces are matched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from msgspec import Struct

from ipytorchseed.trace.compiled import COMPILED
from ipytorchseed.trace.digests import UNSEEN
from ipytorchseed.trace.format import Place
from ipytorchseed.trace.loading import Loaded, Tensors
from ipytorchseed.trace.operations import is_unwritten

# Parts of a module's path that belong to wrappers around modules.
_WRAPPERS = ("_orig_mod", "module", "_fsdp_wrapped_module", "_checkpoint_wrapped_module", COMPILED)


class Keys(Struct):
    """Arrays with one item for each operation of a trace.

    ``given``, ``made``, ``anchor``, ``exact`` and ``named`` are hashes that can be compared only
    within one process.

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

    given: Any
    made: Any
    plain: Any
    seen: Any
    anchor: Any
    exact: Any
    named: Any
    compiled: Any
    unwritten: Any


def keys(trace: Loaded) -> Keys:
    """Compute the keys of a trace's operations."""
    reads, makes = trace.reads, trace.makes
    kinds = np.array([hash(kind) for kind in trace.kinds], np.int64)

    def of_calls(values: Iterable[object]) -> Any:
        return np.array([hash(each) for each in values], np.int64)[trace.of]

    def combined(*columns: Iterable[object]) -> Any:
        return np.fromiter(map(hash, zip(*columns, strict=True)), np.int64, len(trace))

    named = of_calls(call.operation for call in trace.calls)
    placed = of_calls((call.operation, *_place_key(call.place)) for call in trace.calls)
    plain = of_calls(call.plain for call in trace.calls)
    given = combined(_bytes(reads, reads.digests), plain.tolist())
    shapes = (_bytes(each, kinds[each.kinds]) for each in (reads, makes))
    compiled = of_calls(call.place.module.endswith(COMPILED) for call in trace.calls)
    unwritten = of_calls(is_unwritten(call.operation) for call in trace.calls)
    return Keys(
        given=given,
        made=combined(_bytes(makes, makes.digests)),
        plain=plain,
        seen=~(reads.any(reads.digests == UNSEEN) | makes.any(makes.digests == UNSEEN)),
        anchor=combined(placed.tolist(), given.tolist()),
        exact=combined(placed.tolist(), *shapes),
        named=named,
        compiled=compiled.astype(bool),
        unwritten=unwritten.astype(bool),
    )


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
