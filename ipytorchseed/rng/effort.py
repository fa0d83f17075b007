"""A budget of draws for searches of positions in a stream."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class TooFar(Exception):  # noqa: N818 -- not an error
    """The budget was spent before the search ended."""


class Effort:
    """A budget of draws to step over; 350,000 take about a millisecond.

    Args:
        draws: The number of draws.
    """

    __slots__ = ("left",)

    def __init__(self, draws: int) -> None:
        self.left = draws

    def spend(self, draws: int) -> None:
        """Take draws from the budget before stepping over them.

        Raises:
            TooFar: Fewer are left.
        """
        if draws > self.left:
            self.left = 0
            raise TooFar
        self.left -= draws


_allowed: ContextVar[Effort | None] = ContextVar("effort", default=None)


@contextmanager
def within(effort: Effort) -> Iterator[None]:
    """Limit all searches in the block to one budget, in addition to their own bounds."""
    token = _allowed.set(effort)
    try:
        yield
    finally:
        _allowed.reset(token)


def current() -> Effort | None:
    """Return the budget in force; None if there is none."""
    return _allowed.get()
