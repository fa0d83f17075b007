"""Fingerprints of numpy's arrays: dtype, shape and the bits of the elements, in index order."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from xxhash import xxh3_128, xxh3_128_digest

from ipytorchseed.fingerprint import buffers
from ipytorchseed.fingerprint.containers import SERIES, write_batch
from ipytorchseed.fingerprint.lent import Lent, lent_array, read_if_there
from ipytorchseed.fingerprint.objects import attribute_tokens, extra, join
from ipytorchseed.fingerprint.reading import UnreadableError
from ipytorchseed.fingerprint.scalars import name_bytes, text
from ipytorchseed.fingerprint.walk import Bytes, Draft, Walk, Writing
from ipytorchseed.introspection.anatomy import anatomy

_BY_NUMBER = "?bBhHiIlLqQfdgFDGOe"
"""Codes of the dtypes that, in the machine's order of bytes, have no parameters."""


@cache
def _names() -> dict[int, str]:
    """Return the names of these dtypes by their numbers; numpy must have been imported."""
    made = map(sys.modules["numpy"].dtype, _BY_NUMBER)
    return {dtype.num: str(dtype) for dtype in made}


def name_of(dtype: Any) -> str:
    """Return ``str`` of a dtype, for which numpy takes longer than all else does for an array."""
    if dtype.isbuiltin == 1:  # without fields, and not of somebody else's
        name = _names().get(dtype.num) if dtype.isnative else None
        if name is not None:
            return name
        if dtype.kind in "SU":
            return dtype.str  # type: ignore[no-any-return]
    return str(dtype)


def write_array(value: Any, walk: Walk) -> Writing:
    """Write an array, a memory map, or an object of a subclass."""
    numpy = sys.modules["numpy"]
    plain = numpy.asarray(value)  # of a subclass: the same memory as a plain array
    dtype, shape, lost = plain.dtype, plain.shape, ""
    lent = lent_array(plain) if plain.nbytes else None
    if dtype.names is not None:  # its padding is no content
        fields = [(field, plain[field]) for field in dtype.names]
        body = join((yield from attribute_tokens(fields, walk)))
    elif lent is not None:
        body, lost = _borrow(value, walk, dtype, lent.digest)
    elif dtype.hasobject:
        body = yield from _write_objects(plain, walk)
    else:
        body = _read(plain, walk, numpy)
    more = b""
    if plain is not value:
        mapped = issubclass(type(value), numpy.memmap)
        skip = _NOT_CONTENT | _OF_FILE if mapped else _NOT_CONTENT
        more = yield from extra(value, walk, numpy.ndarray, skip=skip)
    digest = xxh3_128_digest(_head(dtype, shape) + more + body)
    if not walk.top:
        return Draft(digest, "array")
    name = name_of(dtype)
    if not plain.flags.c_contiguous:
        walk.strides.append(str(plain.strides))
    size = " x ".join(map(str, shape)) or "scalar"
    parts = {"shape": size, "dtype": name}
    line = f"{name} array {size}{lost}"
    return Draft(digest, "array", line, parts, series_of(plain, walk, lent), opaque=bool(lost))


def brief_array(plain: Any, walk: Walk) -> bytes | None:
    """Return the token of a plain array of numbers in a memory of the library's.

    Args:
        plain: The array, of no subclass.
        walk: For whom.

    Returns:
        The same as its writer stands for; None of any other array.
    """
    head = brief_head(plain, plain.shape)
    return None if head is None else brief_token(head, plain, walk)


def brief_head(plain: Any, shape: tuple[int, ...]) -> bytes | None:
    """Return what ``brief_token`` asks for of views of an array that have this shape; or None."""
    dtype = plain.dtype
    if dtype.names is not None or dtype.hasobject:
        return None
    if plain.nbytes and lent_array(plain) is not None:
        return None
    return _head(dtype, shape)


def brief_token(head: bytes, plain: Any, walk: Walk) -> bytes:
    """Return the token of an array of which ``brief_head`` is known."""
    return b"D" + xxh3_128_digest(head + _read(plain, walk, sys.modules["numpy"]))


def _head(dtype: Any, shape: tuple[int, ...]) -> bytes:
    return f"array {name_of(dtype)} {shape}".encode()


def _write_objects(plain: Any, walk: Walk) -> Bytes:
    """Digest an array of Python objects, without a copy of it."""
    hasher = xxh3_128()
    for span in walk.spans(plain.size):
        hasher.update((yield from write_batch(plain.flat[span].tolist(), walk)))
    return hasher.digest()


_NOT_CONTENT = frozenset({"_sharedmask", "_mmap"})
"""What subclasses in numpy keep for themselves: masked arrays and memory maps."""

_OF_FILE = frozenset({"filename", "mode", "offset"})
"""Where the content of a memory map comes from, which a copy of it does not tell."""


def _borrow(value: Any, walk: Walk, dtype: Any, read: Callable[[Walk], bytes]) -> tuple[bytes, str]:
    """Read elements that may be gone, as ``read_if_there``."""
    return read_if_there(value, walk, _refuse if dtype.hasobject else read)


def _refuse(_: Walk) -> bytes:
    """Read no addresses of objects, which lead anywhere once the memory is gone."""
    raise UnreadableError("its objects lie in another's memory")


def _read(plain: Any, walk: Walk, numpy: Any) -> bytes:
    if plain.nbytes == 0:
        return b""
    if plain.dtype.char == "G":
        return _read(plain.real, walk, numpy) + _read(plain.imag, walk, numpy)
    if plain.dtype.char == "g":
        plain = _without_padding(plain, numpy)
    size = plain.nbytes
    whole = walk.may_read(size)
    if whole and size <= buffers.CHUNK:
        walk.charge(size)
        return xxh3_128_digest(numpy.ascontiguousarray(plain))
    item = plain.dtype.itemsize
    blocks, block = buffers.SAMPLE
    if whole:
        return walk.read_pieces(_pieces(plain, numpy))
    if plain.flags.c_contiguous:
        view = memoryview(plain.reshape(-1).view(numpy.uint8))
        return buffers.sample(view, blocks, block, item)
    each = min(max(1, block // item), plain.size)
    starts = numpy.array(buffers.starts(plain.size, blocks, each))
    places = (starts[:, None] + numpy.arange(each)).ravel()
    taken = plain[numpy.unravel_index(places, plain.shape)]
    return xxh3_128_digest(memoryview(taken.view(numpy.uint8)))


def _without_padding(plain: Any, numpy: Any) -> Any:
    """View extended precision numbers by the bytes that count: x86 leaves 6 of 16 as they were."""
    if numpy.finfo(plain.dtype).nmant != _OF_X87:
        return plain
    return plain.view({"names": ["number"], "formats": ["V10"], "itemsize": plain.itemsize})[
        "number"
    ]


_OF_X87 = 63
"""Bits of the fraction of such a number."""


def _pieces(plain: Any, numpy: Any) -> Iterator[memoryview]:
    """Copy an array to contiguous memory, piece by piece."""
    for piece in buffers.split(plain, plain.nbytes):
        yield memoryview(numpy.ascontiguousarray(piece).reshape(-1).view(numpy.uint8))


def series_of(plain: Any, walk: Walk, lent: Lent | None) -> tuple[float, ...] | None:
    """Return the numbers of a short array in one row, or of one alone, if they can be read.

    Args:
        plain: The array.
        walk: For whom.
        lent: What ``lent_array`` says of it.
    """
    most = 1 if plain.ndim > 1 else SERIES
    if plain.dtype.kind not in "iuf" or not 0 < plain.size <= most:
        return None
    if lent is not None:
        try:
            plain = lent.copied(walk).view(plain.dtype)
        except UnreadableError:
            return None
    return tuple(plain.reshape(-1).astype("f8").tolist())


def write_number(value: Any, walk: Walk) -> Writing:
    """Write a scalar of numpy's."""
    numpy = sys.modules["numpy"]
    generic = numpy.generic
    dtype = generic.dtype.__get__(value)
    made = anatomy(type(value))
    lent = lent_array(numpy.asarray(value)) if dtype.kind == "V" else None
    lost = ""
    if lent is not None:  # a record in an array
        body, lost = _borrow(value, walk, dtype, lambda walk: lent.copied(walk).tobytes())
    elif dtype.hasobject:
        body = yield generic.item(value)
    elif dtype.char in "gG":
        body = _read(numpy.asarray(value), walk, numpy)
    else:
        body = generic.tobytes(value)
    plain = made.name.startswith("numpy.")
    more = b"" if plain else (yield from extra(value, walk, object))
    name = name_of(dtype)
    digest = xxh3_128_digest(b"number" + name_bytes(name) + more + body)
    if not walk.top:
        return Draft(digest, "number")
    series = (float(generic.item(value)),) if dtype.kind in "iuf" else None
    shown = f"{name} {series[0]:.6g}" if series else f"{name}{lost}"
    if dtype.kind == "b":
        shown = repr(generic.item(value))
    return Draft(digest, "number", shown, {"dtype": name}, series, opaque=bool(lost))


def number_leaves() -> dict[int, Callable[[Any], bytes]]:
    """Return what writes the plain scalars of numpy, by type, as ``write_number`` does inside."""
    numpy = sys.modules["numpy"]
    read = numpy.generic.tobytes

    def of(dtype: Any) -> Callable[[Any], bytes]:
        head = b"number" + name_bytes(str(dtype))
        return lambda value: b"D" + xxh3_128_digest(head + read(value))

    dtypes = map(numpy.dtype, _BY_NUMBER.translate(_OF_EXTENDED))
    return {id(dtype.type): of(dtype) for dtype in dtypes}


_OF_EXTENDED = {ord("g"): None, ord("G"): None}
"""Codes of the dtypes whose scalars have bytes that are no content."""


def write_dtype(value: Any, walk: Walk) -> Writing:  # noqa: ARG001
    """Write a dtype."""
    yield from ()
    told = str(value)
    return Draft(xxh3_128_digest(b"dtype" + text(told)), "dtype", f"dtype {told}")
