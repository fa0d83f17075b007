"""Fingerprints of long strings, byte buffers, and subclasses of builtin scalars."""

from __future__ import annotations

from array import array
from typing import Any

from ipytorchseed.fingerprint.objects import encode_extras
from ipytorchseed.fingerprint.scalars import LEAVES, count
from ipytorchseed.fingerprint.walk import Draft, Walk, Writer, Writing
from ipytorchseed.introspection.anatomy import anatomy

_SHOWN = 32  # the maximum length of a token whose number is shown in digits


def _long(value: Any, walk: Walk) -> bytes:
    """Digest a long string, bytes object or integer."""
    if type(value) is int:
        value = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    length = len(value)
    if type(value) is bytes:
        return b"%d;" % length + walk.read(memoryview(value))
    spans = walk.split(length, length)
    pieces = (value[span].encode("utf-8", "surrogatepass") for span in spans)
    return b"%d;" % length + walk.read_pieces(pieces)


def scalar_writer(base: Any) -> Writer:
    """Return a writer for long strings, bytes and integers, and scalar subclasses."""
    word, sized = base.__name__, base is str or base is bytes

    def write(value: Any, walk: Walk) -> Writing:
        # `__getnewargs__` of the base ignores overrides in a subclass
        plain = value if type(value) is base else base(*base.__getnewargs__(value))
        token = LEAVES[id(base)](plain)
        more = yield from encode_extras(value, walk, base)
        content = word.encode() + more + (token or _long(plain, walk))
        title = anatomy(type(value)).title
        if sized:
            size = count(len(plain), "character" if base is str else "byte")
            return Draft(content, word, f"{title} of {size}", {"length": str(len(plain))})
        shown = repr(plain) if token and len(token) < _SHOWN else f"of {plain.bit_length():,} bits"
        return Draft(content, word, f"{title} {shown}")

    return write


def memory_writer(word: str) -> Writer:
    """Return a writer for objects that support the buffer protocol."""

    def write(value: Any, walk: Walk) -> Writing:
        with memoryview(value) as memory:
            shape = f"{memory.format}{memory.shape}".encode()
            size = memory.nbytes
            body = _memory(memory, walk)
        yield from ()
        content = word.encode() + shape + body
        return Draft(content, word, f"{word} of {count(size, 'byte')}", {"length": str(size)})

    return write


# Builtin types that do not release their memory while a memoryview uses it.
_OWNERS = (bytes, bytearray, array)


def _memory(view: memoryview, walk: Walk) -> bytes:
    """Digest the memory of a memoryview."""
    if view.nbytes and not issubclass(type(view.obj), _OWNERS):
        import numpy as np

        held = np.frombuffer(view.cast("B"), np.uint8) if view.c_contiguous else np.asarray(view)
        return walk.read_array(held, borrowed=True)
    flat = view if view.c_contiguous else memoryview(view.tobytes())
    return walk.read(flat.cast("B") if view.nbytes else memoryview(b""))
