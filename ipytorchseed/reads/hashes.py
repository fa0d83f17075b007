"""Tells whether the iteration order of a value depends on the hash seed of the process."""

from __future__ import annotations

import itertools
import types
from typing import Any

from ipytorchseed.introspection.anatomy import module_of_class, mro, name_of_class, own
from ipytorchseed.introspection.values import identities

_MANY = 64
"""Items of a container that are looked at."""

_SETS = identities({set, frozenset})
_BUILTIN = identities({list, tuple, set, frozenset, dict})
_NUMBERS = identities({int, float, bool, complex, range})


def has_random_order(value: object) -> bool:
    """Tell whether a value is a set whose order hangs on the hash seed."""
    return id(type(value)) in _SETS and hashes_randomly(value)


def hashes_randomly(value: object) -> bool:
    """Tell whether among a container's items is one whose hash hangs on the hash seed."""
    kind = type(value)
    if id(kind) in _BUILTIN:
        keys: Any = dict.keys(value) if kind is dict else value  # type: ignore[arg-type]
        try:
            return any(map(_hashes_randomly, list(itertools.islice(keys, _MANY))))
        except RuntimeError:
            return True
    if module_of_class(kind) == "numpy" and name_of_class(kind) == "ndarray":
        slot = own(kind).get("dtype")
        return type(slot) is not types.GetSetDescriptorType or slot.__get__(value).kind in "OSU"
    return kind is not range and not _is_tensor(kind)


def _hashes_randomly(item: object) -> bool:
    kind = type(item)
    if id(kind) in _NUMBERS or _is_tensor(kind):
        return False
    if module_of_class(kind) == "numpy":
        return name_of_class(kind) in ("str_", "bytes_", "datetime64", "timedelta64")
    if kind is tuple or kind is frozenset:
        return hashes_randomly(item)
    for base in mro(kind):
        hashed = own(base).get("__hash__")
        if hashed is not None:
            return hashed is not object.__hash__
    return True


def _is_tensor(kind: type) -> bool:
    return module_of_class(kind) == "torch" and name_of_class(kind) == "Tensor"
