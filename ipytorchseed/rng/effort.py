"""A limit on the draws that a search for a position in a stream may step over."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class TooFar(Exception):  # noqa: N818 -- it is what is said, not what went wrong
    """The effort that was allowed is spent, and the search has not ended."""


class Effort:
    """What is left of the draws that may be stepped over, some 350,000 in a millisecond.

    Args:
        draws: How many.
    """

    __slots__ = ("left",)

    def __init__(self, draws: int) -> None:
        self.left = draws

    def spend(self, draws: int) -> None:
        """Count draws that are about to be stepped over.

        Raises:
            TooFar: There are fewer left.
        """
        if draws > self.left:
            self.left = 0
            raise TooFar
        self.left -= draws


_allowed: ContextVar[Effort | None] = ContextVar("effort", default=None)


@contextmanager
def within(effort: Effort) -> Iterator[None]:
    """Have every search in the block spend of ``effort``; outside, only their own bounds hold."""
    token = _allowed.set(effort)
    try:
        yield
    finally:
        _allowed.reset(token)


def current() -> Effort | None:
    """Return the effort that is allowed here; None where there is no limit."""
    return _allowed.get()
