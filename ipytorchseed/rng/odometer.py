"""Counts the draws of numpy's PCG64, by arithmetic on its states.

It counts raw 64-bit numbers between the state that a seed gives and the present one. PCG64 is a
linear congruential generator, whose steps have a discrete logarithm (O'Neill 2014,
HMC-CS-2014-0905, section 4.3.1). Draws of numpy's other generators are not counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ipytorchseed.rng.position import BOUND, UNKNOWN, Position

if TYPE_CHECKING:
    from numpy.random import BitGenerator

# Entropy of a SeedSequence that is at least this large is the system's, not a typed seed.
_LARGEST_SEED = 2**63

# The factor of each kind of generator that is counted.
_FACTORS = {"PCG64": 0x2360ED051FC65DA44385DF649FCCF645, "PCG64DXSM": 0xDA942042E4DD58B5}
_MASK128 = 2**128 - 1


def locate(engine: BitGenerator, hints: Iterable[int] = ()) -> Position:
    """Find the seed that a numpy bit generator started with, and its raw draws since.

    Args:
        engine: The bit generator; it is read, not advanced.
        hints: Seeds that may have been set later, likeliest first.
    """
    import numpy as np

    kind = type(engine)
    if kind.__name__ not in _FACTORS or not kind.__module__.startswith("numpy.random."):
        return UNKNOWN
    now: Any = engine.state
    sequences: list[tuple[int | None, Any]] = [
        (hint, np.random.SeedSequence(hint)) for hint in hints
    ]
    born = getattr(engine, "seed_seq", None)
    if isinstance(born, np.random.SeedSequence):
        sequences.append((_typed_seed(born), born))
    for seed, sequence in sequences:
        draws = count(kind(sequence).state, now)
        if draws is not None:
            return Position(seed, draws)
    return Position(beyond=bool(sequences))


def count(origin: Any, now: Any) -> int | None:
    """Count the raw draws that lead from one ``state`` of a generator to another.

    Returns:
        None if there are none, more than ``BOUND``, or the generator is of another kind.
    """
    kind = str(origin.get("bit_generator"))
    if kind not in _FACTORS or now.get("bit_generator") != kind:
        return None
    draws = _steps(origin, now, _FACTORS[kind])
    return draws if draws is not None and draws <= BOUND else None


def _typed_seed(sequence: Any) -> int | None:  # SeedSequence
    import numpy as np

    entropy = sequence.entropy
    typed = isinstance(entropy, (int, np.integer)) and not sequence.spawn_key
    return int(entropy) if typed and entropy < _LARGEST_SEED else None


def _steps(origin: Any, now: Any, factor: int) -> int | None:
    """Count the steps of a linear congruential generator from one state to another."""
    begin, add = origin["state"]["state"], origin["state"]["inc"]
    end = now["state"]["state"]
    if now["state"]["inc"] != add:
        return None
    bit, draws = 1, 0
    while begin != end:
        if (begin ^ end) & bit:
            begin = (begin * factor + add) & _MASK128
            draws |= bit
        bit <<= 1
        add = ((factor + 1) * add) & _MASK128
        factor = (factor * factor) & _MASK128
    return draws
