"""Determines whether the order of a set depends on the hash seed or on addresses."""

from __future__ import annotations

import itertools
import types
from numbers import Number
from typing import Any

from ipytorchseed.introspection.anatomy import module_of_class, mro, name_of_class, own
from ipytorchseed.introspection.values import identities
from ipytorchseed.reads.entropy import BY_HASH, BY_PLACE

# The maximum number of items of a container that are inspected.
_MAX_ITEMS = 64

_SETS = identities({set, frozenset})

_BUILTIN = identities({list, tuple, set, frozenset, dict})


def order_basis(value: object) -> str:
    """Return the ``hash_basis`` of a set, or "" for other values."""
    return hash_basis(value) if id(type(value)) in _SETS else ""


def hash_basis(value: object) -> str:
    """Return whether the hashes of a container's items depend on seed or addresses.

    Returns:
        ``BY_HASH`` if any hash depends on the hash seed or is unknown, else ``BY_PLACE`` if any
        depends on an address, else "".
    """
    kind = type(value)
    if id(kind) in _BUILTIN:
        keys: Any = dict.keys(value) if kind is dict else value  # type: ignore[arg-type]
        try:
            found = [_hash_of(item) for item in list(itertools.islice(keys, _MAX_ITEMS))]
        except RuntimeError:
            return BY_HASH
        return next((on for on in (BY_HASH, BY_PLACE) if on in found), "")
    if module_of_class(kind) == "numpy" and name_of_class(kind) == "ndarray":
        slot = own(kind).get("dtype")
        known = type(slot) is types.GetSetDescriptorType and slot.__get__(value).kind not in "OSU"
        return "" if known else BY_HASH
    if _is_tensor(kind):
        return BY_PLACE
    return "" if kind is range else BY_HASH


def _hash_of(item: object) -> str:
    kind = type(item)
    if issubclass(kind, Number):
        return ""
    if kind is tuple or kind is frozenset:
        return hash_basis(item)
    hashes = (own(base).get("__hash__") for base in mro(kind))
    found = next((each for each in hashes if each is not None), None)
    return BY_PLACE if found is object.__hash__ or _is_tensor(kind) else BY_HASH


def _is_tensor(kind: type) -> bool:
    return module_of_class(kind) == "torch" and name_of_class(kind) == "Tensor"
