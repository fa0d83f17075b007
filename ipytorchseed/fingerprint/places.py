"""Digests of what lies at places of a list, array or tensor that code names: ``X[:8]``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from ipytorchseed.fingerprint.lent import lent_array
from ipytorchseed.fingerprint.native import Unseen, native
from ipytorchseed.introspection.values import index_named

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from ipytorchseed.fingerprint.value import Fingerprint

_MOST, _MOST_BYTES = 16, 2**24
"""Places that are told of one value, and bytes of a value of which any are: they are read twice."""


def with_places(
    value: Any, found: Fingerprint, wanted: Collection[str], look: Callable[[Any], Fingerprint]
) -> Fingerprint:
    """Add what lies at places among the ``wanted`` parts to a fingerprint: ``k:[:8]``, ``k:[:,0]``.

    Args:
        value: The value.
        found: Its fingerprint.
        wanted: The parts that code reads.
        look: Returns the fingerprint of what lies there.
    """
    names = {part.partition(".")[0] for part in wanted if part[:3] == "k:["} - found.parts.keys()
    if not names or len(names) > _MOST or not found.exact or not _is_small(value):
        return found
    parts = {}
    for name in names:
        try:
            with Unseen():
                piece = value[index_named(name[3:-1])]
        except (IndexError, TypeError, ValueError):
            continue
        told = look(piece)
        if told.exact and not told.opaque:
            parts[name] = told.digest
    return replace(found, parts={**found.parts, **parts})


def _is_small(value: Any) -> bool:
    """Tell whether a value is a sequence of nobody's class that is read again safely and soon."""
    kind, torch, numpy = type(value), sys.modules.get("torch"), sys.modules.get("numpy")
    if kind is list or kind is tuple:
        return len(value) <= _MOST_BYTES // 2**8
    if kind is getattr(numpy, "ndarray", None):
        return bool(value.nbytes <= _MOST_BYTES) and lent_array(value) is None  # a number is read
    if kind is not getattr(torch, "Tensor", None):
        return False
    at = native()
    plain = at.layout(value) is at.strided and not at.requires_grad(value)
    return bool(plain and at.numel(value) * at.element_size(value) <= _MOST_BYTES)
