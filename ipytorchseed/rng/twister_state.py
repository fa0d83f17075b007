"""One byte layout for the Mersenne Twisters of python and numpy.

2496 bytes of words, then the position (int32), whether a normal number is cached (int8) and that
number (float64): 2509 bytes, little-endian. Equal bytes mean that all later numbers are equal.
"""

from __future__ import annotations

import struct

from msgspec import Struct

from ipytorchseed.errors import StateError
from ipytorchseed.rng.mersenne import N, Twister

_WORDS = 2496
_TAIL = struct.Struct("<iBd")
SIZE = _WORDS + _TAIL.size


class TwisterState(Struct, frozen=True):
    """A Mersenne Twister with the normal number it may hold in stock.

    Attributes:
        words: The 624 words, as 2496 little-endian bytes.
        position: How many of them were given, 0 to 624.
        normal: The cached normal number, or None.
    """

    words: bytes
    position: int
    normal: float | None

    def pack(self) -> bytes:
        """Return the 2509 bytes of this state."""
        cached = self.normal is not None
        return self.words + _TAIL.pack(self.position, cached, self.normal if cached else 0.0)

    @classmethod
    def unpack(cls, state: bytes) -> TwisterState:
        """Read such bytes.

        Raises:
            StateError: They are no state of a Mersenne Twister.
        """
        if len(state) != SIZE:
            msg = f"a Mersenne Twister's state has {SIZE} bytes, this one {len(state)}"
            raise StateError(msg)
        position, cached, normal = _TAIL.unpack_from(state, _WORDS)
        if not 0 <= position <= N:  # numpy would take it, and read past its words
            msg = f"a Mersenne Twister's position is from 0 to {N}, this one {position}"
            raise StateError(msg)
        return cls(state[:_WORDS], position, normal if cached else None)

    def twister(self) -> Twister:
        """Return what the odometer counts with."""
        return Twister(self.words, self.position)
