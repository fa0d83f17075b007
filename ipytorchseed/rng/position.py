"""The position of a generator in its stream, and the budget for searching it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from msgspec import Struct

from ipytorchseed.rng.seeds import LIMIT

# The maximum number of draws to count, which takes a quarter of a second for MT19937.
BOUND = 100_000_000


class Position(Struct, frozen=True):
    """A position in a stream of random numbers.

    Attributes:
        seed: The seed of the stream, or None if unknown.
        draws: The raw numbers drawn since seeding, or None if unknown.
        beyond: Whether counting stopped at ``BOUND``: there are more draws, or the stream of the
            seed does not contain the state.
    """

    seed: int | None = None
    draws: int | None = None
    beyond: bool = False

    @property
    def is_chosen(self) -> bool:
        """Whether a person may have chosen the seed; a library chooses larger ones."""
        return self.seed is not None and self.seed < LIMIT

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


class TooFar(Exception):  # noqa: N818 -- not an error
    """The budget was spent before the search ended."""


class Effort(Struct):
    """A budget of draws that searches may step over; 350,000 take about a millisecond.

    Attributes:
        left: The number of draws that are left.
    """

    left: int


_allowed: ContextVar[Effort | None] = ContextVar("effort", default=None)


@contextmanager
def within(effort: Effort) -> Iterator[None]:
    """Limit all searches in the block to one shared budget."""
    token = _allowed.set(effort)
    try:
        yield
    finally:
        _allowed.reset(token)


def spend(draws: int) -> None:
    """Subtract draws from the budget that ``within`` has set, if any.

    Raises:
        TooFar: The budget has fewer draws left.
    """
    effort = _allowed.get()
    if effort is not None:
        if draws > effort.left:
            effort.left = 0
            raise TooFar
        effort.left -= draws
