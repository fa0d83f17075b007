"""Fingerprints of values without parts, as a few self-delimiting bytes."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from xxhash import xxh3_64_hexdigest

from ipytorchseed.fingerprint.value import Fingerprint

# Characters or bytes beyond which reading a string or integer is timed.
LONG = 4096

_FLOAT = struct.Struct("<cd").pack
_COMPLEX = struct.Struct("<cdd").pack
_SHOWN = 2**64  # for larger integers, the size is shown instead of the digits


def text(value: str) -> bytes:
    """Write a string with an end mark; lone surrogates have bytes too."""
    encoded = value.encode("utf-8", "surrogatepass")
    return b"s%d:%b" % (len(encoded), encoded)


# The same for names of attributes, which repeat often.
name_bytes = lru_cache(maxsize=4096)(text)


def join(tokens: Iterable[tuple[str, bytes]]) -> bytes:
    """Join names and tokens into one byte string."""
    return b"".join([name_bytes(name) + token for name, token in tokens])


def count(number: int, word: str) -> str:
    """Return a number with its word."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _integer(value: int) -> bytes | None:
    return b"i%x;" % value if value.bit_length() <= 8 * LONG else None


def _text(value: str) -> bytes | None:
    if len(value) > LONG:
        return None
    encoded = value.encode("utf-8", "surrogatepass")  # as `text` does, inlined for speed
    return b"s%d:%b" % (len(encoded), encoded)


def _bytes(value: bytes) -> bytes | None:
    return b"b%d:%b" % (len(value), value) if len(value) <= LONG else None


def _complex(value: complex) -> bytes:
    return _COMPLEX(b"c", value.real, value.imag)


# By the identity of exactly that type: returns bytes, or None if the value is too long. Once
# numpy is imported, its plain scalars are included.
LEAVES: dict[int, Callable[[Any], bytes | None]] = {
    id(type(None)): lambda _: b"N",
    id(bool): lambda value: b"T" if value else b"F",
    id(int): _integer,  # hexadecimal has no limit on digits
    id(float): lambda value: _FLOAT(b"f", value),
    id(complex): _complex,
    id(str): _text,
    id(bytes): _bytes,
    id(type(...)): lambda _: b"E",
    id(type(NotImplemented)): lambda _: b"I",
}

_BUILTIN = {**LEAVES}

_KINDS = {int: "int", float: "float", complex: "complex", bool: "bool", type(None): "None"}


def leaf(value: Any) -> Fingerprint | None:
    """Return the fingerprint of a short value without parts, or None for others."""
    kind = type(value)
    write = _BUILTIN.get(id(kind))
    token = None if write is None else write(value)
    if token is None:
        return None
    digest = xxh3_64_hexdigest(token)
    if kind is str or kind is bytes:
        size = len(value)
        what = ("character" if kind is str else "byte") + ("s" if size != 1 else "")
        word, length = kind.__name__, str(size)
        return Fingerprint(digest, word, f"{word} of {size} {what}", parts={"length": length})
    series = number(value)
    shown = f"int of {value.bit_length()} bits" if _is_huge(value) else repr(value)
    return Fingerprint(digest, _KINDS.get(kind, kind.__name__), shown, series=series)


def _is_huge(value: Any) -> bool:
    return type(value) is int and not -_SHOWN < value < _SHOWN


def number(value: Any) -> tuple[float] | None:
    """Return a number as a series of one; None for other values or beyond floats."""
    if type(value) is float:
        return (value,)
    if type(value) is int:
        try:
            return (float(value),)
        except OverflowError:
            return None
    return None


@lru_cache(maxsize=1)
def _by_digest() -> dict[str, str]:
    """Return the text of None, booleans, counts and short decimals, by their digests."""
    decimals = (float(f"{digits}e{power}") for power in _POWERS for digits in range(1_000))
    values = (None, False, True, *range(-1, _COUNTED), *decimals)
    return {xxh3_64_hexdigest(LEAVES[id(type(each))](each) or b""): str(each) for each in values}


# Counts below it can be read back, and decimals of three digits with these powers of ten.
_COUNTED = 10_000
_POWERS = range(-6, 3)


def read_back(digest: str) -> str:
    """Return the value behind a part's digest as text; empty if it is uncommon."""
    return _by_digest().get(digest, "")
