"""The position of a generator in its stream.

The seed it began with, and the draws since.
"""

from __future__ import annotations

from msgspec import Struct

# Draws that are counted before giving up; a quarter of a second for MT19937.
BOUND = 100_000_000


class Position(Struct, frozen=True):
    """A place in a stream of random numbers.

    Attributes:
        seed: The seed that the stream began with, or None if it cannot be known.
        draws: Raw numbers given since, or None if they cannot be known.
        beyond: True if the count was given up at ``BOUND`` (more draws than that, or
            a state that this seed never reaches).
    """

    seed: int | None = None
    draws: int | None = None
    beyond: bool = False

    def __str__(self) -> str:
        if self.draws is not None:
            begin = "seed unknown" if self.seed is None else f"seed {self.seed}"
            noun = "draw" if self.draws == 1 else "draws"
            return begin if self.draws == 0 else f"{begin} + {self.draws:,} {noun}"
        if self.beyond and self.seed is None:
            return f">{BOUND // 1_000_000} million draws from any known seed"
        if self.seed is not None:
            count = f">{BOUND // 1_000_000} million draws" if self.beyond else "unknown draws"
            return f"seed {self.seed} + {count}"
        return "seed unknown"


UNKNOWN = Position()
