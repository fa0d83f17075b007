"""A budget for searches that step through a stream to find a position."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class TooFar(Exception):  # noqa: N818 -- not an error
    """The budget was spent before the search ended."""


class Effort:
    """A budget of draws; stepping over 350,000 takes about a millisecond.

    Args:
        draws: The number of draws that searches may step over.
    """

    __slots__ = ("left",)

    def __init__(self, draws: int) -> None:
        self.left = draws

    def spend(self, draws: int) -> None:
        """Subtract draws from the budget.

        Raises:
            TooFar: The budget has fewer draws left.
        """
        if draws > self.left:
            self.left = 0
            raise TooFar
        self.left -= draws


_allowed: ContextVar[Effort | None] = ContextVar("effort", default=None)


@contextmanager
def within(effort: Effort) -> Iterator[None]:
    """Limit all searches in the block to one shared budget."""
    token = _allowed.set(effort)
    try:
        yield
    finally:
        _allowed.reset(token)


def current() -> Effort | None:
    """Return the budget that ``within`` has set, or None."""
    return _allowed.get()
