"""Tells what the order of a set hangs on: the hash seed of the process, or addresses."""

from __future__ import annotations

import itertools
import types
from typing import Any

from ipytorchseed.introspection.anatomy import module_of_class, mro, name_of_class, own
from ipytorchseed.introspection.values import identities
from ipytorchseed.reads.entropy import BY_HASH, BY_PLACE

_MANY = 64
"""Items of a container that are looked at."""

_SETS = identities({set, frozenset})
"""The classes of sets."""

_BUILTIN = identities({list, tuple, set, frozenset, dict})
_NUMBERS = identities({int, float, bool, complex, range})


def order_of(value: object) -> str:
    """Tell what the order of a set hangs on, as ``hashes_of``; of another value, nothing."""
    return hashes_of(value) if id(type(value)) in _SETS else ""


def hashes_of(value: object) -> str:
    """Tell what the hashes of a container's items hang on.

    Returns:
        ``BY_HASH`` where one hangs on the hash seed, else ``BY_PLACE`` where one hangs on where the
        item lies in memory, and nothing where all are the same in each process.
    """
    kind = type(value)
    if id(kind) in _BUILTIN:
        keys: Any = dict.keys(value) if kind is dict else value  # type: ignore[arg-type]
        try:
            found = [_hash_of(item) for item in list(itertools.islice(keys, _MANY))]
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
    if id(kind) in _NUMBERS:
        return ""
    if _is_tensor(kind):
        return BY_PLACE
    if module_of_class(kind) == "numpy":
        random = name_of_class(kind) in ("str_", "bytes_", "datetime64", "timedelta64")
        return BY_HASH if random else ""
    if kind is tuple or kind is frozenset:
        return hashes_of(item)
    for base in mro(kind):
        hashed = own(base).get("__hash__")
        if hashed is not None:
            return BY_PLACE if hashed is object.__hash__ else BY_HASH
    return BY_HASH


def _is_tensor(kind: type) -> bool:
    return module_of_class(kind) == "torch" and name_of_class(kind) == "Tensor"
