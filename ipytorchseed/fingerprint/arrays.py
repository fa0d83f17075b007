"""Fingerprints of numpy arrays: dtype, shape and bits of the elements."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import Any

from xxhash import xxh3_128, xxh3_128_digest

from ipytorchseed.fingerprint.containers import SERIES, write_batch
from ipytorchseed.fingerprint.memory import UnreadableError, owns_array, require
from ipytorchseed.fingerprint.objects import encode_extras
from ipytorchseed.fingerprint.scalars import join, name_bytes
from ipytorchseed.fingerprint.walk import Bytes, Draft, Walk, Writing

# Codes of the dtypes of numbers.
_NUMBERS = "?bBhHiIlLqQefdgFDGO"


_cached_name = lru_cache(str)


def name_of(dtype: Any) -> str:
    """Return ``str(dtype)``, from a cache for common dtypes.

    numpy's ``str`` takes longer than all other work for an array.
    """
    return _cached_name(dtype) if dtype.isbuiltin == 1 else str(dtype)


def write_array(value: Any, walk: Walk) -> Writing:
    """Encode a numpy array, including memory maps and other subclasses."""
    numpy = sys.modules["numpy"]
    plain = numpy.asarray(value)  # for a subclass: the same memory as a plain array
    dtype, shape = plain.dtype, plain.shape
    borrowed = bool(plain.nbytes) and not owns_array(plain)
    if dtype.names is not None:  # its padding is not content
        fields = [(field, plain[field]) for field in dtype.names]
        body = join((yield from walk.named(fields)))
    elif dtype.hasobject:
        if borrowed:  # the elements are addresses, which may be invalid by now
            raise UnreadableError("its objects are in foreign memory")
        body = yield from _write_objects(plain, walk)
    else:
        body = walk.read_array(plain, borrowed=borrowed) if plain.nbytes else b""
    more = b""
    if plain is not value:
        mapped = issubclass(type(value), numpy.memmap)
        skip = _NOT_CONTENT | _OF_FILE if mapped else _NOT_CONTENT
        more = yield from encode_extras(value, walk, numpy.ndarray, skip=skip)
    name = name_of(dtype)
    content = f"array {name} {shape}".encode() + more + body
    if not walk.top:
        return Draft(content, "array")
    if not plain.flags.c_contiguous:
        walk.strides.append(str(plain.strides))
    size = " x ".join(map(str, shape)) or "scalar"
    parts = {"shape": size, "dtype": name}
    return Draft(content, "array", f"{name} array {size}", parts, series_of(plain))


def _write_objects(plain: Any, walk: Walk) -> Bytes:
    """Digest an array of Python objects without copying it."""
    hasher = xxh3_128()
    for span in walk.spans(plain.size):
        hasher.update((yield from write_batch(plain.flat[span].tolist(), walk)))
    return hasher.digest()


# Attributes of masked arrays and memory maps that are not content.
_NOT_CONTENT = frozenset({"_sharedmask", "_mmap"})

# Attributes that name the file of a memory map. A copy of the array does not have them.
_OF_FILE = frozenset({"filename", "mode", "offset"})


def series_of(plain: Any) -> tuple[float, ...] | None:
    """Return the numbers of a short one-dimensional array or scalar, if readable."""
    most = 1 if plain.ndim > 1 else SERIES
    if plain.dtype.kind not in "iuf" or not 0 < plain.size <= most:
        return None
    with suppress(UnreadableError):
        if not owns_array(plain):
            require(plain)
        return tuple(plain.reshape(-1).astype("f8").tolist())
    return None


def write_number(value: Any, walk: Walk) -> Writing:
    """Encode a numpy scalar."""
    numpy = sys.modules["numpy"]
    generic = numpy.generic
    dtype = generic.dtype.__get__(value)
    if dtype.kind == "V" and not owns_array(plain := numpy.asarray(value)):
        require(plain)  # a record that is a view of an array
    body = (yield generic.item(value)) if dtype.hasobject else generic.tobytes(value)
    name = name_of(dtype)
    content = b"number" + name_bytes(name) + body
    if not walk.top:
        return Draft(content, "number")
    series = (float(generic.item(value)),) if dtype.kind in "iuf" else None
    shown = f"{name} {series[0]:.6g}" if series else name
    if dtype.kind == "b":
        shown = repr(generic.item(value))
    return Draft(content, "number", shown, {"dtype": name}, series)


def number_leaves() -> dict[int, Callable[[Any], bytes]]:
    """Return functions that encode numpy scalars, by the ``id`` of the type."""
    numpy = sys.modules["numpy"]
    read = numpy.generic.tobytes

    def of(dtype: Any) -> Callable[[Any], bytes]:
        head = b"number" + name_bytes(str(dtype))
        return lambda value: b"D" + xxh3_128_digest(head + read(value))

    return {id(dtype.type): of(dtype) for dtype in map(numpy.dtype, _NUMBERS)}
