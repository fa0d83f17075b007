"""Finds the position of a Mersenne Twister: its seed and the draws since.

Python's ``random``, numpy's legacy generator and torch's CPU generator use the same algorithm,
MT19937 (Matsumoto and Nishimura 1998, doi:10.1145/272991.272995): 624 words are returned one by
one, and then all are replaced ("twisted"). The position in the stream is the number of twists and
the number of current words that were returned. There are two ways to find it:

* If the seed is known, step forwards from it, at 400 million draws a second, until the words match.
* If the seed is unknown, step backwards until the words satisfy a recurrence that only words right
  after seeding satisfy. This is possible because twisting is invertible.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Literal

from msgspec import Struct

from ipytorchseed.errors import StateError
from ipytorchseed.rng.position import BOUND, UNKNOWN, Position, spend

N, M = 624, 397
_WORDS = 4 * N
_TAIL = struct.Struct("<iBd")  # words used, whether a normal number is cached, that number
# The size of a packed state of python or numpy in bytes: little-endian, without padding.
SIZE = _WORDS + _TAIL.size

_MASK = 0xFFFFFFFF
# The maximum number of draws to search backwards, which takes at most a tenth of a second.
_NEAR = 2_000_000

# A step back takes as long as this many steps forwards.
_SLOWER = 12

# The method of seeding: ``knuth`` fills the words from one integer (numpy's ``seed(int)``, torch),
# ``array`` mixes in a list of words (Python's ``seed``).
Scheme = Literal["knuth", "array"]


class Twister(Struct, frozen=True):
    """The state of a Mersenne Twister.

    Attributes:
        words: The 624 words, as 2496 little-endian bytes.
        used: The number of words that were returned, from 0 to 624; 624 right after seeding.
        normal: The normal number that Python and numpy may cache for the next call, or None.
    """

    words: bytes
    used: int
    normal: float | None = None

    def pack(self) -> bytes:
        """Return the state as ``SIZE`` bytes.

        If two generators have equal bytes, they return equal numbers from then on.
        """
        cached = self.normal is not None
        return self.words + _TAIL.pack(self.used, cached, self.normal if cached else 0.0)

    @classmethod
    def unpack(cls, state: bytes) -> Twister:
        """Return the state that ``pack`` wrote.

        Raises:
            StateError: The bytes are not a state of a Mersenne Twister.
        """
        if len(state) != SIZE:
            raise StateError(f"a Mersenne Twister's state has {SIZE} bytes, this one {len(state)}")
        used, cached, normal = _TAIL.unpack_from(state, _WORDS)
        if not 0 <= used <= N:  # numpy would accept it, and read past the words
            raise StateError(f"a Mersenne Twister's position is from 0 to {N}, this one {used}")
        return cls(state[:_WORDS], used, normal if cached else None)


def seeded(seed: int, scheme: Scheme) -> Twister:
    """Return the state right after seeding with an integer from 0 to 2**32-1."""
    if scheme == "array":
        import array
        import random

        words = array.array("I", random.Random(seed).getstate()[1][:N])
        return Twister(words.tobytes(), N)
    from numpy.random import MT19937

    engine = MT19937(0)
    engine._legacy_seeding(seed)  # noqa: SLF001 -- documented; RandomState(seed) calls it
    return Twister(_live_words(engine).raw, N)


def distance(origin: Twister, target: Twister, bound: int = BOUND) -> int | None:
    """Count the draws between two states.

    Args:
        origin: The first state.
        target: The second state. The first few of its words are enough.
        bound: The maximum number of draws to try.

    Returns:
        The number of draws, or None if ``target`` is not reached within ``bound`` draws.

    Raises:
        TooFar: The budget of ``position.within`` is spent.
    """
    import numpy as np
    from numpy.random import MT19937

    engine = MT19937(0)
    words = _live_words(engine)
    key = np.frombuffer(origin.words, dtype=np.uint32)
    engine.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": N}}
    live = (ctypes.c_uint32 * N).from_address(ctypes.addressof(words))
    first = int.from_bytes(target.words[:4], "little")
    for block in range((bound + origin.used) // N + 1):
        if live[0] == first and words.raw.startswith(target.words):
            draws = N * block + target.used - origin.used
            return draws if 0 <= draws <= bound else None
        spend(N)
        engine.random_raw(N, output=False)
    return None


def locate(scheme: Scheme, state: bytes, hints: Iterable[int] = ()) -> Position:
    """Find the seed of a generator, and the draws since.

    Args:
        scheme: The method of seeding.
        state: The packed state of the generator.
        hints: Seeds that may have been used, likeliest first.

    Returns:
        The position. If no search was successful, or ``state`` has another format, it is unknown,
        and ``beyond`` if there are hints.

    Raises:
        TooFar: The budget of ``position.within`` is spent.
    """
    if len(state) != SIZE:
        return UNKNOWN
    now, seeds = Twister.unpack(state), tuple(dict.fromkeys(hints))
    for reach in (_NEAR // 20, _NEAR):
        near = _from_hints(now, scheme, seeds, reach) or _search_backwards(now, scheme, reach)
        if near is not None:
            return near
    return _from_hints(now, scheme, seeds[:1], BOUND) or Position(beyond=bool(seeds))


def _from_hints(
    state: Twister, scheme: Scheme, hints: tuple[int, ...], bound: int
) -> Position | None:
    for seed in hints:
        draws = distance(seeded(seed, scheme), state, bound)
        if draws is not None:
            return Position(seed, draws)
    return None


@lru_cache(maxsize=256)
def _search_backwards(state: Twister, scheme: Scheme, reach: int) -> Position | None:
    """Step back, twist by twist, until the words can be the result of seeding."""
    import numpy as np

    words = np.frombuffer(state.words, dtype=np.uint32)
    recover = _knuth_seed if scheme == "knuth" else _array_seed
    for block in range(reach // N + 2):
        seed = recover([int(word) for word in words[:8]])
        if seed is not None:
            made = np.frombuffer(seeded(seed, scheme).words, dtype=np.uint32)
            # Of the first word, only the highest bit affects the next twist.
            if (made[1:] == words[1:]).all() and (made[0] ^ words[0]) >> 31 == 0:
                draws = N * block + state.used - N
                return Position(seed, draws) if draws >= 0 else None
        spend(_SLOWER * N)
        words = _untwist(words)
    return None


def _untwist(new: Any) -> Any:  # numpy arrays of 624 words
    """Return the words before a twist.

    A twist computes ``x[n+624] = x[n+397] ^ A(high bit of x[n], low 31 bits of x[n+1])``. ``A`` is
    a shift and a conditional exclusive or. It is invertible, because the highest bit of its result
    shows whether the condition was true.

    Args:
        new: The words after the twist.
    """
    import numpy as np

    mixed = np.empty(N + 1, dtype=np.uint32)  # mixed[n + 1]: the argument of A for word n
    old = np.empty(N, dtype=np.uint32)

    def undo(result: Any) -> Any:
        odd = result >> 31
        return ((result ^ (odd * np.uint32(0x9908B0DF))) << 1) | odd

    def join(begin: int, end: int) -> None:
        old[begin:end] = (mixed[begin + 1 : end + 1] & 0x80000000) | (mixed[begin:end] & 0x7FFFFFFF)

    split = N - M
    mixed[split + 1 :] = undo(new[split:] ^ new[:M])
    join(split + 1, N)
    mixed[1 : split + 1] = undo(new[:split] ^ old[M:])
    mixed[0] = undo(old[N - 1 :] ^ old[M - 1 : M])[0]  # wrong if `old` was seeded, not twisted
    join(0, split + 1)
    return old


def _spread(word: int) -> int:
    return word ^ (word >> 30)


def _knuth_seed(words: list[int]) -> int | None:
    """Return the seed that the ``knuth`` scheme fills into these words, or None.

    It inverts ``word[i] = 1812433253 * spread(word[i-1]) + i``.
    """
    factor = 1812433253
    for i in range(2, 6):
        if (factor * _spread(words[i - 1]) + i) & _MASK != words[i]:
            return None
    return _spread(((words[1] - 1) * pow(factor, -1, 2**32)) & _MASK)


def _array_seed(words: list[int]) -> int | None:
    """Return the seed that the ``array`` scheme mixes into these words, or None.

    It inverts ``init_by_array`` for a key of one word, which Python uses for seeds below 2**32.
    """
    before = {
        i: ((words[i] + i) ^ (_spread(words[i - 1]) * 1566083941)) & _MASK for i in range(3, 8)
    }
    start = [19650218]  # the words into which `init_by_array` mixes the key
    for i in range(1, 8):
        start.append((1812433253 * _spread(start[-1]) + i) & _MASK)
    keys = {
        (before[i] - (start[i] ^ (_spread(before[i - 1]) * 1664525))) & _MASK for i in range(4, 8)
    }
    return keys.pop() if len(keys) == 1 else None


def _live_words(engine: Any) -> Any:  # MT19937 in, ctypes array out
    """Return a view of the 624 words of a numpy ``MT19937``."""
    return (ctypes.c_char * _WORDS).from_address(engine.ctypes.state_address)
