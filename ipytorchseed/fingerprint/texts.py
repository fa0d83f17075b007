"""Fingerprints of long strings, byte buffers, and subclasses of builtin scalars."""

from __future__ import annotations

from array import array
from typing import Any

from ipytorchseed.fingerprint.objects import extra
from ipytorchseed.fingerprint.scalars import LEAVES, LONG, count
from ipytorchseed.fingerprint.walk import Draft, Walk, Writer, Writing

_PIECE = 2**20  # characters encoded at once: memory for more would be new each time
_SHOWN = 32  # bytes of the longest number that is shown in digits


def _plain(base: Any, value: Any) -> Any:
    """Return the plain number of a subclass object, ignoring overrides."""
    if base is int:
        return value if type(value) is int else int.__add__(value, 0)
    if base is float:
        return float.__pos__(value)
    return complex.__pos__(value)


def _long(text: str, walk: Walk) -> bytes:
    """Digest a text of any length."""
    length = str.__len__(text)
    spans = (
        slice(start, min(start + _PIECE, each.stop))
        for each in walk.split(length, length)
        for start in range(each.start, each.stop, _PIECE)
    )
    pieces = (str.__getitem__(text, span) for span in spans)
    return walk.read_pieces(each.encode("utf-8", "surrogatepass") for each in pieces)


def _large(number: int, walk: Walk) -> bytes:
    """Digest an integer of thousands of digits."""
    size = number.bit_length() // 8 + 1
    return b"%d;" % size + walk.read(memoryview(number.to_bytes(size, "little", signed=True)))


def number_writer(base: Any) -> Writer:
    """Return a writer of large integers and of subclasses of builtin numbers."""
    word = base.__name__

    def write(value: Any, walk: Walk) -> Writing:
        plain = _plain(base, value)
        token = LEAVES[id(base)](plain)
        more = yield from extra(value, walk, base)
        content = word.encode() + more + (token or _large(plain, walk))
        title = type.__dict__["__name__"].__get__(type(value))
        shown = repr(plain) if token and len(token) < _SHOWN else f"of {plain.bit_length():,} bits"
        return Draft(content, word, f"{title} {shown}")

    return write


def text_writer(base: Any) -> Writer:
    """Return a writer of long strings and bytes, and of their subclasses."""
    word = base.__name__

    def write(value: Any, walk: Walk) -> Writing:
        length = base.__len__(value)
        if length <= LONG:
            token = LEAVES[id(base)](base.__getitem__(value, slice(None)))
        else:
            body = _long(value, walk) if base is str else walk.read(memoryview(value))
            token = b"%d;" % length + body
        more = yield from extra(value, walk, base)
        content = word.encode() + more + token
        title = type.__dict__["__name__"].__get__(type(value))
        size = count(length, "character" if base is str else "byte")
        return Draft(content, word, f"{title} of {size}", {"length": str(length)})

    return write


def memory_writer(word: str) -> Writer:
    """Return a writer of objects that are a byte buffer."""

    def write(value: Any, walk: Walk) -> Writing:
        with memoryview(value) as memory:
            shape = f"{memory.format}{memory.shape}".encode()
            size = memory.nbytes
            body = _memory(memory, walk)
        more = yield from extra(value, walk, type(value))
        content = word.encode() + shape + more + body
        return Draft(content, word, f"{word} of {count(size, 'byte')}", {"length": str(size)})

    return write


# Types of Python that do not release their memory while a memoryview uses it.
_OWNERS = (bytes, bytearray, array)


def _memory(view: memoryview, walk: Walk) -> bytes:
    """Digest the memory of a memoryview."""
    if view.nbytes and not issubclass(type(view.obj), _OWNERS):
        import numpy as np

        held = np.frombuffer(view.cast("B"), np.uint8) if view.c_contiguous else np.asarray(view)
        return walk.read_array(held, borrowed=True)
    flat = view if view.c_contiguous else memoryview(view.tobytes())
    return walk.read(flat.cast("B") if view.nbytes else memoryview(b""))
