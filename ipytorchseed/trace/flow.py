"""Which operation reads what another gave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ipytorchseed.trace.loading import Loaded

_DEEPEST = 32
"""Views of views that are followed."""


def read_later(trace: Loaded, readers: Any) -> Any:  # noqa: ANN401 -- columns
    """Tell of each tensor that operations gave whether one of the readers is given it later.

    A reader may be given a part of it, a view, or what was written over a part of it.
    """
    import numpy as np

    counts = np.diff(trace.reads.ends, prepend=0)
    chosen = np.repeat(readers, counts)
    by, read = np.repeat(np.arange(len(trace)), counts)[chosen], trace.reads.digests[chosen]
    digests, last = _last(read, by)
    if not len(digests):
        return np.zeros(len(trace.makes.digests), bool)
    made, held = trace.links.T
    for _ in range(_DEEPEST):
        at = np.minimum(np.searchsorted(digests, made), len(digests) - 1)
        linked = np.flatnonzero(digests[at] == made)
        more, until = _last(
            np.concatenate([digests, held[linked]]), np.concatenate([last, last[at[linked]]])
        )
        if len(more) == len(digests) and bool((until == last).all()):
            break
        digests, last = more, until
    found = np.minimum(np.searchsorted(digests, trace.makes.digests), len(digests) - 1)
    maker = np.repeat(np.arange(len(trace)), np.diff(trace.makes.ends, prepend=0))
    return (digests[found] == trace.makes.digests) & (last[found] > maker)


def _last(digests: Any, by: Any) -> tuple[Any, Any]:  # noqa: ANN401 -- columns
    """Return the different digests, sorted, and the last operation of each."""
    import numpy as np

    order = np.lexsort((by, digests))
    digests, by = digests[order], by[order]
    ends = np.append(digests[1:] != digests[:-1], True)[: len(digests)]
    return digests[ends], by[ends]


def makers(trace: Loaded, digest: int, end: int) -> Iterator[int]:
    """Yield the last operation before another that gave a tensor, or what it is a view of."""
    import numpy as np

    stop = trace.makes.of(end).start
    for _ in range(_DEEPEST):
        found = np.flatnonzero(trace.makes.digests[:stop] == np.uint64(digest))
        if len(found):
            yield int(np.searchsorted(trace.makes.ends, found[-1], side="right"))
        held = trace.links[trace.links[:, 0] == np.uint64(digest), 1]
        if not len(held):
            return
        digest = int(held[0])
