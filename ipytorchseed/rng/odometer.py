"""Counts the draws of numpy's bit generators, by arithmetic on their states.

It counts the raw 64-bit numbers between two states. PCG64 is a linear congruential generator, for
which this is a discrete logarithm (O'Neill 2014, HMC-CS-2014-0905, section 4.3.1). Philox is a
counter, and SFC64 contains one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from ipytorchseed.rng import mersenne
from ipytorchseed.rng.position import BOUND, UNKNOWN, Position

if TYPE_CHECKING:
    from numpy.random import BitGenerator

# If the entropy of a SeedSequence is at least this large, it is from the system, not a typed seed.
_LARGEST_SEED = 2**63

_PCG64_FACTOR = 0x2360ED051FC65DA44385DF649FCCF645
_DXSM_FACTOR = 0xDA942042E4DD58B5
_MASK128 = 2**128 - 1


def locate(engine: BitGenerator, hints: Iterable[int] = ()) -> Position:
    """Find the seed of a numpy bit generator, and its raw draws since.

    Args:
        engine: The bit generator, which does not advance.
        hints: Seeds that may have been used after its creation, likeliest first.
    """
    import numpy as np

    kind = type(engine)
    if kind.__name__ not in _COUNT or not kind.__module__.startswith("numpy.random."):
        return UNKNOWN
    now: Any = engine.state
    sequences: list[tuple[int | None, Any]] = [
        (hint, np.random.SeedSequence(hint)) for hint in hints
    ]
    born = getattr(engine, "seed_seq", None)
    if isinstance(born, np.random.SeedSequence):
        sequences.append((_typed_seed(born), born))
    for seed, sequence in sequences:
        draws = count(kind(sequence), now)
        if draws is not None:
            return Position(seed, draws)
    return Position(beyond=bool(sequences))


def count(origin: BitGenerator, now: Any) -> int | None:  # now: what `state` returns
    """Count the raw draws between the states of two bit generators of the same type.

    Args:
        origin: A bit generator in the first state. It may be advanced.
        now: The second state, as the property ``state`` returns it.

    Returns:
        The number of draws, or None if it is unknown or too large.
    """
    step = _COUNT.get(type(origin).__name__)
    draws = None if step is None else step(origin, now)
    return draws if draws is not None and draws <= BOUND else None


def _typed_seed(sequence: Any) -> int | None:  # SeedSequence
    import numpy as np

    entropy = sequence.entropy
    typed = isinstance(entropy, (int, np.integer)) and not sequence.spawn_key
    return int(entropy) if typed and entropy < _LARGEST_SEED else None


def _lcg(origin: Any, now: Any, factor: int) -> int | None:
    begin, add = origin.state["state"]["state"], origin.state["state"]["inc"]
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


def _philox(origin: Any, now: Any) -> int | None:
    begin = origin.state

    def given(state: Any) -> int:
        words = [int(word) for word in state["state"]["counter"]]
        counter = sum(word << (64 * i) for i, word in enumerate(words))
        return 4 * counter + int(state["buffer_pos"])

    if [*begin["state"]["key"]] != [*now["state"]["key"]]:
        return None
    draws: int = given(now) - given(begin)
    return draws if draws >= 0 else None


def _sfc64(origin: Any, now: Any) -> int | None:
    begin = [int(word) for word in origin.state["state"]["state"]]
    end = [int(word) for word in now["state"]["state"]]
    draws = end[3] - begin[3]
    if not 0 <= draws <= BOUND:
        return None
    origin.random_raw(draws, output=False)  # generators with other seeds have the same counter
    return draws if [int(word) for word in origin.state["state"]["state"]] == end else None


def _mt19937(origin: Any, now: Any) -> int | None:
    def twister(state: Any) -> mersenne.Twister:
        return mersenne.Twister(state["state"]["key"].tobytes(), int(state["state"]["pos"]))

    return mersenne.distance(twister(origin.state), twister(now))


_COUNT: dict[str, Callable[[Any, Any], int | None]] = {
    "MT19937": _mt19937,
    "PCG64": partial(_lcg, factor=_PCG64_FACTOR),
    "PCG64DXSM": partial(_lcg, factor=_DXSM_FACTOR),
    "Philox": _philox,
    "SFC64": _sfc64,
}
