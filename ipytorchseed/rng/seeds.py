"""Checks seeds, and derives seeds from other seeds and from ranks."""

from __future__ import annotations

import operator
import os
import reprlib
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

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
            "Python uses its absolute value, and numpy rejects it"
            if seed < 0
            else "numpy rejects larger seeds, and torch's CPU generator drops the high bits"
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


def process_group() -> Any:  # a module
    """Return ``torch.distributed`` if this process is in a group, else None."""
    distributed: Any = sys.modules.get("torch.distributed")
    with suppress(Exception):  # half imported, or shutting down
        if distributed.is_available() and distributed.is_initialized():
            return distributed
    return None


def own_rank() -> int | None:
    """Return the rank of this process among those that run the same notebook, or None.

    The rank is read from ``torch.distributed`` if that is in use, else from the variables ``RANK``
    and ``LOCAL_RANK``, which launchers set. Else it is the id of the ipyparallel engine. Nothing is
    imported or started.
    """
    group = process_group()
    with suppress(Exception):  # no group, or shutting down
        if group.get_world_size() > 1:
            return int(group.get_rank())
    for name in ("RANK", "LOCAL_RANK"):
        told = os.environ.get(name, "")
        if told.isdecimal():
            return int(told)
    if "ipyparallel" not in sys.modules:
        return None
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    engine = getattr(getattr(shell, "kernel", None), "engine_id", None)
    return engine if isinstance(engine, int) else None


def seed_by_rank(seed: int, rank: int | None) -> int:
    """Derive a rank's seed, which does not depend on the number of ranks.

    Args:
        seed: The common seed, from 0 to 2**32-1.
        rank: The rank; None counts as rank 0.
    """
    return derive_seed(seed, f"rank {rank or 0}")
