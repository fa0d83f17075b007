"""Keys that match the operations of two traces."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
from msgspec import Struct
from xxhash import xxh3_64_intdigest

from ipytorchseed.trace.compiled import COMPILED
from ipytorchseed.trace.digests import UNSEEN
from ipytorchseed.trace.format import Place
from ipytorchseed.trace.loading import Loaded, Tensors

# Parts of a module's path for a wrapper around it, compiled or distributed.
_WRAPPERS = ("_orig_mod", "module", "_fsdp_wrapped_module", "_checkpoint_wrapped_module", COMPILED)


class Keys(Struct):
    """Columns of 64-bit numbers, one for each operation.

    Equal numbers mean the same in any trace.

    Attributes:
        given: Its inputs: tensors, and other arguments.
        made: Its results.
        plain: The digest of its other arguments.
        seen: Whether all of its tensors could be read.
        anchor: The operation, its place, and its inputs.
        exact: The operation, its place, shapes and dtypes.
        named: The operation.
        compiled: Whether it is a run of compiled code, or within one.
    """

    given: Any
    made: Any
    plain: Any
    seen: Any
    anchor: Any
    exact: Any
    named: Any
    compiled: Any


def keys(trace: Loaded) -> Keys:
    """Number the operations of a trace."""

    def of_calls(values: Iterable[int]) -> Any:
        return np.fromiter(values, np.uint64, len(trace.calls))[trace.of]

    kinds = np.array([_number(*each) for each in trace.kinds] or [0], np.uint64)
    named = of_calls(_number(call.operation) for call in trace.calls)
    compiled = of_calls(call.place.module.endswith(COMPILED) for call in trace.calls)
    placed = mix(named + of_calls(_number_of_place(call.place) for call in trace.calls))
    plain = of_calls(call.plain for call in trace.calls)
    shapes = fold(trace.reads, kinds[trace.reads.kinds]) + mix(
        fold(trace.makes, kinds[trace.makes.kinds])
    )
    given = mix(fold(trace.reads, trace.reads.digests) + mix(plain))
    return Keys(
        given=given,
        made=fold(trace.makes, trace.makes.digests),
        plain=plain,
        seen=~(trace.reads.any(trace.reads.digests == UNSEEN)
               | trace.makes.any(trace.makes.digests == UNSEEN)),
        anchor=mix(placed + mix(given)),
        exact=mix(placed + mix(shapes)),
        named=named,
        compiled=compiled.astype(bool),
    )  # fmt: skip


def fold(tensors: Tensors, values: Any) -> Any:
    """Combine the values of each operation's tensors, in order, into one number."""
    counts, owners = tensors.counts, tensors.owners
    order = np.arange(len(values)) - (tensors.ends - counts)[owners]
    mixed = mix(values + mix(order.astype(np.uint64) + np.uint64(1)))
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])
    return mix(sums[tensors.ends] - sums[tensors.ends - counts] + counts.astype(np.uint64))


@lru_cache(maxsize=4096)
def _number_of_place(place: Place) -> int:
    """Number a place, without the outermost name of its module and without wrappers."""
    path = [each for each in place.module.split(".")[1:] if each not in _WRAPPERS]
    return _number(place.code or place.line, path, place.backward)


def _number(*words: object) -> int:
    return xxh3_64_intdigest(repr(words).encode("utf-8", "surrogatepass"))


def mix(words: Any) -> Any:
    """Mix the bits of each word with the finalizer of SplitMix64."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
