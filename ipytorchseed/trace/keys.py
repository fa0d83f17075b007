"""Keys that match the operations of two traces."""

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

# Parts of a module's path for a wrapper around it, compiled or distributed.
_WRAPPERS = ("_orig_mod", "module", "_fsdp_wrapped_module", "_checkpoint_wrapped_module", COMPILED)


class Keys(Struct):
    """Columns of hashes, one for each operation.

    They are equal for what is the same in two traces, and comparable within one process.

    Attributes:
        given: Its inputs: tensors, and other arguments.
        made: Its results.
        plain: The digest of its other arguments.
        seen: Whether all of its tensors could be read.
        anchor: The operation, its place, and its inputs.
        exact: The operation, its place, shapes and dtypes.
        named: The operation.
        compiled: Whether it is a run of compiled code, or within one.
        unwritten: Whether its results are uninitialized memory, which is no result.
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
    """Yield the values of each operation's tensors."""
    data, begin = values.tobytes(), 0
    for end in (tensors.ends * values.itemsize).tolist():
        yield data[begin:end]
        begin = end


def _place_key(place: Place) -> tuple[object, ...]:
    """Return a place without the outermost name of its module and without wrappers."""
    path = [each for each in place.module.split(".")[1:] if each not in _WRAPPERS]
    return place.code or place.line, *path, place.backward
