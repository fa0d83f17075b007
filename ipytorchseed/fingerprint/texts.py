"""Long texts and memories of bytes, and builtin scalars' subclasses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xxhash import xxh3_128, xxh3_128_digest

from ipytorchseed.fingerprint import buffers
from ipytorchseed.fingerprint.anatomy import anatomy
from ipytorchseed.fingerprint.lent import lent_view
from ipytorchseed.fingerprint.objects import count, extra
from ipytorchseed.fingerprint.reading import UnreadableError
from ipytorchseed.fingerprint.scalars import LEAVES
from ipytorchseed.fingerprint.walk import Draft, Walk, Writer, Writing

if TYPE_CHECKING:
    from collections.abc import Callable

_PIECE = 2**20  # characters encoded at once


def _plain(base: Any, value: Any) -> Any:  # noqa: ANN401
    """Return the plain value in an object of a subclass, past the methods it overrides."""
    if base is int:
        return int.__add__(value, 0)
    if base is float:
        return float.__pos__(value)
    if base is complex:
        return complex.__pos__(value)
    return base.__getitem__(value, slice(None))


def _long(text: str, walk: Walk) -> bytes:
    """Digest a text of any length."""
    hasher, length = xxh3_128(), len(text)
    if walk.may_read(length):
        size, starts = _PIECE, [*range(0, length, _PIECE)]
    else:
        blocks, size = buffers.SAMPLE
        starts = buffers.starts(length, blocks, size)
    for start in starts:
        piece = str.__getitem__(text, slice(start, start + size)).encode("utf-8", "surrogatepass")
        hasher.update(piece)
        walk.charge(len(piece))
    return hasher.digest()


def scalar_writer(base: Any) -> Writer:  # noqa: ANN401
    """Make a writer of long texts and of objects whose class extends a builtin scalar."""
    word = base.__name__

    def write(value: Any, walk: Walk) -> Writing:  # noqa: ANN401
        top = walk.top
        plain = _plain(base, value)
        token = LEAVES[id(base)](plain)
        if token is None:
            body = _long(plain, walk) if base is str else walk.read(memoryview(plain))
            token = b"%d;" % len(plain) + body
        more = yield from extra(value, walk, base)
        digest = xxh3_128_digest(word.encode() + more + token)
        if not top:
            return Draft(digest, word)
        title = type.__dict__["__name__"].__get__(type(value))
        if base in (str, bytes):
            size = count(len(plain), "character" if base is str else "byte")
            return Draft(digest, word, f"{title} of {size}", {"length": str(len(plain))})
        return Draft(digest, word, f"{title} {plain!r}"[:80])

    return write


def memory_writer(word: str, view: Callable[[Any], memoryview]) -> Writer:
    """Make a writer of objects that are a memory of bytes.

    Args:
        word: The kind.
        view: Returns it.
    """

    def write(value: Any, walk: Walk) -> Writing:  # noqa: ANN401
        top = walk.top
        lost = ""
        with view(value) as memory:
            shape = f"{memory.format}{memory.shape}".encode()
            size = memory.nbytes
            try:
                body = _memory(memory, walk)
            except UnreadableError as error:
                walk.unsee(anatomy(type(value)).name)
                body, lost = b"unreadable", f", {error}"
        more = yield from extra(value, walk, type(value))
        digest = xxh3_128_digest(word.encode() + shape + more + body)
        if not top:
            return Draft(digest, word)
        line = f"{word} of {count(size, 'byte')}{lost}"
        return Draft(digest, word, line, {"length": str(size)}, opaque=bool(lost))

    return write


def _memory(view: memoryview, walk: Walk) -> bytes:
    """Digest what a memoryview looks at."""
    lent = lent_view(view)
    if lent is not None:
        return lent.digest(walk)
    flat = view if view.c_contiguous else memoryview(view.tobytes())
    return walk.read(flat.cast("B") if view.nbytes else memoryview(b""))
