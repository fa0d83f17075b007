"""Bytes made small, and numbers as bytes: what the ledger does before it keeps something."""

from __future__ import annotations

import zlib
from array import array
from sys import byteorder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_RAW, _ZLIB, _WORDS = b"\0", b"\1", b"\2"

_SMALL = 256
"""Bytes up to which nothing is gained."""

_LONG = 2048
"""Bytes above which it is worth looking first whether they are random: those do not shrink."""

_SAMPLE, _RANDOM = 128, 85
"""Bytes that are looked at, and how many different ones mean random: 101 are expected then."""

_LEVEL = 1
"""zlib's fastest: what is kept is short, and somebody waits."""


def pack(data: bytes) -> bytes:
    """Make bytes smaller where that helps; ``unpack`` gives them back."""
    if len(data) <= _SMALL:
        return _RAW + data
    if _half_empty(data):
        return _WORDS + _pack_words(data)
    if len(data) > _LONG and len({*data[-_SAMPLE:]}) > _RANDOM:  # the end: no header there
        return _RAW + data
    small = zlib.compress(data, _LEVEL)
    return _ZLIB + small if _gains(data, small) else _RAW + data


def unpack(data: bytes) -> bytes:
    """Give back what ``pack`` was given.

    Raises:
        ValueError: These bytes are not from ``pack``.
    """
    kind, rest = data[:1], data[1:]
    try:
        if kind == _RAW:
            return rest
        if kind == _ZLIB:
            return zlib.decompress(rest)
        if kind == _WORDS:
            return _unpack_words(rest)
    except (zlib.error, TypeError) as error:
        msg = f"packed bytes that cannot be unpacked: {error}"
        raise ValueError(msg) from error
    msg = f"packed bytes of an unknown kind {kind!r}"
    raise ValueError(msg)


def pack_numbers(numbers: Sequence[float]) -> tuple[str, bytes] | None:
    """Write floats as little-endian bytes, in single precision where that loses nothing.

    Returns:
        The type code of ``array`` and the bytes; None where they are not all plain floats.
    """
    if {*map(type, numbers)} != {float}:
        return None
    double = array("d", numbers)
    single = array("f", double)
    code, exact = ("f", single) if array("d", single) == double else ("d", double)
    if byteorder == "big":
        exact.byteswap()
    return code, exact.tobytes()


def unpack_numbers(code: str, data: bytes) -> tuple[float, ...]:
    """Give back what ``pack_numbers`` was given.

    Raises:
        ValueError: The bytes are no whole number of numbers.
    """
    numbers = array(code)
    numbers.frombytes(data)
    if byteorder == "big":
        numbers.byteswap()
    return tuple(numbers)


def _gains(data: bytes, small: bytes) -> bool:
    return len(small) * 16 < len(data) * 15


# torch keeps each 32-bit word of its Mersenne Twister in 64 bits (at::CPUGeneratorImpl's legacy
# state). zlib takes 50 us to shrink those 5056 bytes to 3200; with the empty halves apart it is
# 9 us and 2570.


_STATE = 1024
"""Bytes of which this is told."""


def _half_empty(data: bytes) -> bool:
    if len(data) < _STATE or any(data[_STATE - 4 : _STATE]):
        return False
    halves = data[4:_STATE:8], data[7:_STATE:8]
    return all(each.count(0) > 0.9 * len(each) for each in halves)


def _pack_words(data: bytes) -> bytes:
    whole = len(data) // 8 * 8
    words = memoryview(data)[:whole].cast("I")
    high = zlib.compress(words[1::2].tobytes(), _LEVEL)
    return b"".join((len(high).to_bytes(4, "big"), high, words[0::2].tobytes(), data[whole:]))


def _unpack_words(data: bytes) -> bytes:
    end = 4 + int.from_bytes(data[:4], "big")
    high = zlib.decompress(data[4:end])
    low, rest = data[end : end + len(high)], data[end + len(high) :]
    words = bytearray(2 * len(high))
    view = memoryview(words).cast("I")
    view[0::2] = memoryview(low).cast("I")
    view[1::2] = memoryview(high).cast("I")
    return bytes(words) + rest
