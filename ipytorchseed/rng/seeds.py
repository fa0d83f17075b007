"""Checks seeds, and derives seeds from other seeds."""

from __future__ import annotations

import operator
import os
import reprlib
from collections.abc import Callable
from contextlib import suppress

from xxhash import xxh3_128_digest

from ipytorchseed.errors import SeedError

# Seeds are below this limit: numpy rejects larger ones, and torch's CPU generator uses 32 bits.
LIMIT = 2**32

# Integers with more bits are not shown in full.
_LONG = 128


# Functions to call when a seed is applied, with the seed and how: ``call`` or ``block``.
listeners: list[Callable[[int, str], object]] = []


def tell_seed(seed: int, how: str) -> None:
    """Call the listeners with a seed that was applied; ignore their errors."""
    for listener in listeners:
        with suppress(Exception):
            listener(seed, how)


def check_seed(value: object) -> int:
    """Return ``value`` as a plain int, or raise an error if it is not a seed.

    Args:
        value: An integer from 0 to 2**32-1; numpy's integers and 0-d integer tensors count.

    Raises:
        SeedError: ``value`` is not an integer, or is outside that range.
    """
    if type(value) is int and 0 <= value < LIMIT:
        return value
    if getattr(value, "shape", None) == ():  # a 0-d array or tensor
        value = value.item()  # type: ignore[attr-defined]
    if isinstance(value, bool):
        raise SeedError(no_seed(str(value)))
    try:
        seed = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        said = " ".join(reprlib.repr(value).split())  # one short line
        said = said if len(said) <= 60 else said[:57] + "..."  # noqa: PLR2004
        raise SeedError(no_seed(f"{said} ({type(value).__name__})")) from None
    if not 0 <= seed < LIMIT:
        why = (
            "python takes it for its absolute value and numpy refuses it"
            if seed < 0
            else "numpy refuses more, and torch's CPU generator drops all but the low 32 bits"
        )
        said = str(seed) if seed.bit_length() <= _LONG else f"one of {seed.bit_length()} bits"
        raise SeedError(no_seed(said, why))
    return seed


def no_seed(said: str, why: str = "nothing else seeds python, numpy and torch alike") -> str:
    """Return the error message for a value that is not a valid seed.

    Args:
        said: The text for the value.
        why: The reason why it is not valid.
    """
    return f"a seed is an integer from 0 to {LIMIT - 1}, not {said}: {why}"


def derive_seed(seed: int, key: str) -> int:
    """Derive the seed of a cell or generator from a common seed.

    Different keys have independent streams, because the key becomes the spawn key of a
    ``numpy.random.SeedSequence``: see
    https://numpy.org/doc/stable/reference/random/parallel.html.

    Args:
        seed: The common seed, from 0 to 2**32-1.
        key: A text that identifies the cell or generator.

    Returns:
        An integer from 0 to 2**32-1, the same on every machine and in every version.
    """
    from numpy.random import SeedSequence

    digest = xxh3_128_digest(key.encode("utf-8", "surrogatepass"))
    words = tuple(int.from_bytes(digest[i : i + 4], "big") for i in range(0, 16, 4))
    return int(SeedSequence(seed, spawn_key=words).generate_state(1)[0])


def fresh_seed() -> int:
    """Return a new seed from the operating system, from 0 to 2**32-1.

    It does not draw from any random source.
    """
    return int.from_bytes(os.urandom(4), "little")
