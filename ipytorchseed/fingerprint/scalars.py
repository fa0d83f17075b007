"""Fingerprints of short values without parts: numbers, strings, None.

Each is written as a *token*: self-delimiting bytes that represent the value.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from xxhash import xxh3_64_hexdigest

from ipytorchseed.fingerprint.value import Fingerprint

# Strings and integers with more characters or bytes are read by a writer, which checks the time.
LONG = 4096

_FLOAT = struct.Struct("<cd").pack
_COMPLEX = struct.Struct("<cdd").pack
_SHOWN = 2**64  # for larger integers, the size is shown instead of the digits


def text(value: str) -> bytes:
    """Encode a string with its length; lone surrogates are encoded too."""
    encoded = value.encode("utf-8", "surrogatepass")
    return b"s%d:%b" % (len(encoded), encoded)


# Writes the name of an attribute, from a cache, because names repeat often.
name_bytes = lru_cache(maxsize=4096)(text)


def join(tokens: Iterable[tuple[str, bytes]]) -> bytes:
    """Join names and their tokens into one byte string."""
    return b"".join([name_bytes(name) + token for name, token in tokens])


def count(number: int, word: str) -> str:
    """Return a number with a noun, such as ``2 items``."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


# Functions that write values without parts, by the ``id`` of the exact type. They return None if
# the value is too long. numpy's scalars are added once numpy is imported.
LEAVES: dict[int, Callable[[Any], bytes | None]] = {
    id(type(None)): lambda _: b"N",
    id(bool): lambda value: b"T" if value else b"F",
    # in hexadecimal, because Python limits the number of decimal digits
    id(int): lambda value: b"i%x;" % value if value.bit_length() <= 8 * LONG else None,
    id(float): lambda value: _FLOAT(b"f", value),
    id(complex): lambda value: _COMPLEX(b"c", value.real, value.imag),
    id(str): lambda value: text(value) if len(value) <= LONG else None,
    id(bytes): lambda it: b"b%d:%b" % (len(it), it) if len(it) <= LONG else None,
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
        word, size = kind.__name__, count(len(value), "character" if kind is str else "byte")
        return Fingerprint(digest, word, f"{word} of {size}", parts={"length": str(len(value))})
    huge = kind is int and not -_SHOWN < value < _SHOWN
    shown = f"int of {value.bit_length()} bits" if huge else repr(value)
    numeric = kind is float or (kind is int and value.bit_length() < sys.float_info.max_exp)
    series = (float(value),) if numeric else None
    return Fingerprint(digest, _KINDS.get(kind, kind.__name__), shown, series=series)


@lru_cache(maxsize=1)
def _by_digest() -> dict[str, str]:
    """Return the text of None, booleans, small integers and short decimals, by digest."""
    decimals = (float(f"{digits}e{power}") for power in _POWERS for digits in range(1_000))
    values = (None, False, True, *range(-1, _COUNTED), *decimals)
    return {xxh3_64_hexdigest(LEAVES[id(type(each))](each) or b""): str(each) for each in values}


# ``read_back`` knows integers below this, and decimals of three digits with these powers of ten.
_COUNTED = 10_000
_POWERS = range(-6, 3)


def read_back(digest: str) -> str:
    """Return the text of the common value with this digest; empty if there is none."""
    return _by_digest().get(digest, "")
