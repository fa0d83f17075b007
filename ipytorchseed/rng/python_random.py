"""Python's ``random``: the module's hidden generator, and generators of the user's."""

from __future__ import annotations

import random
import struct
from array import array
from functools import lru_cache
from typing import TYPE_CHECKING

from ipytorchseed.rng import mersenne
from ipytorchseed.rng.peek import find_offset, peek
from ipytorchseed.rng.source import Library, Source
from ipytorchseed.rng.twister_state import TwisterState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ipytorchseed.rng.position import Position

_LAYOUT = struct.Struct("<i2496s")  # int index; uint32_t state[624], in CPython's _randommodule.c
_VERSION = 3  # of the tuples that random.setstate takes


def hidden() -> random.Random:
    """Return the generator behind the functions of the module ``random``."""
    return random._inst  # noqa: SLF001


@lru_cache(maxsize=1)
def _offset() -> int | None:
    def index_and_words(sample: object) -> bytes:
        *words, index = random.Random.getstate(sample)[1]  # type: ignore[arg-type]
        return _LAYOUT.pack(index, array("I", words).tobytes())

    samples = [random.Random(seed) for seed in range(3)]
    samples[1].random()
    samples[2].gauss(0, 1)
    return find_offset(samples, index_and_words)


_attributes = vars(random.Random)["__dict__"].__get__
"""The attributes of a generator, past any ``__getattribute__`` of a subclass."""


def read(generator: random.Random) -> bytes:
    """Return the state of ``generator`` in the layout of ``twister_state``.

    Methods that a subclass overrides are not called.
    """
    offset = _offset()
    if offset is None:
        _, (*words, index), normal = random.Random.getstate(generator)
        return TwisterState(array("I", words).tobytes(), index, normal).pack()
    index, state = _LAYOUT.unpack(peek(id(generator) + offset, _LAYOUT.size))
    return TwisterState(state, index, _attributes(generator).get("gauss_next")).pack()


def write(generator: random.Random, state: bytes) -> None:
    """Put ``generator`` where ``read`` found it, also if it is of a subclass."""
    found = TwisterState.unpack(state)
    internal = (*array("I", found.words), found.position)
    random.Random.setstate(generator, (_VERSION, internal, found.normal))


def seed(generator: random.Random, value: int) -> None:
    """Seed ``generator``, also if it is of a subclass."""
    random.Random.seed(generator, value)


def locate(state: bytes, hints: Sequence[int]) -> Position:
    """Find the seed and draws behind a state that ``read`` returned."""
    return mersenne.locate(TwisterState.unpack(state).twister(), "array", tuple(hints))


def _stamp() -> object:
    generator, offset = hidden(), _offset()
    if offset is None:
        return read(generator)
    return peek(id(generator) + offset, _LAYOUT.size), _attributes(generator).get("gauss_next")


_SOURCE = Source(
    name="python",
    seed=lambda value: seed(hidden(), value),
    read=lambda: read(hidden()),
    write=lambda state: write(hidden(), state),
    locate=locate,
    stamp=_stamp,
)

LIBRARY = Library(
    name="python",
    module="random",
    seeder=lambda: hidden().seed,
    sources=lambda: (_SOURCE,),
    essential=True,
)
