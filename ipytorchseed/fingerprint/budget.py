"""The time budget for looking at all the values of a cell."""

from __future__ import annotations

import time

from msgspec import Struct

REREAD = 16 * 2**20
"""Bytes of tensors already known that a round reads again all the same."""

_WHOLE = 0.8
"""The share of the time in which values are read whole; the rest is for samples of the others."""


class SpentError(Exception):
    """The walk has to end here: the rest would exceed its budget."""


class LateError(SpentError):
    """The same, because the time is over rather than because the value is large."""


class PendingError(SpentError):
    """The value is not there yet, as a GPU is still computing it."""


class Budget(Struct):
    """The time for a round of fingerprints, and what has been taken from it.

    Only time within ``fingerprint`` counts, so that one budget can serve a cell before and after
    it runs; and only this thread's own, so that a busy machine changes no answer.

    Attributes:
        seconds: How much there is.
        used: How much of it is gone.
        reread: Bytes that may still be read again where a cheap proof says that they are
            unchanged; see ``Memo``.
        waited: Seconds that a GPU was waited for, at most ``seconds``: it computes meanwhile, and
            the next one to read from it would have waited as long.
    """

    seconds: float = 0.2
    used: float = 0.0
    reread: int = REREAD
    waited: float = 0.0

    @property
    def left(self) -> float:
        """Seconds in which values may still be read whole; negative once they are gone."""
        return self.seconds * _WHOLE - self.used

    @property
    def spent(self) -> bool:
        """Whether from now on only small values are read whole."""
        return self.left <= 0

    def deadline(self, began: float, *, whole: bool) -> float:
        """Return when a look must end, by ``time.thread_time``.

        Args:
            began: When it began, by the same clock.
            whole: Whether it reads values whole, rather than a sample.
        """
        return began + (self.left if whole else self.seconds - self.used)

    def stop(self) -> None:
        """Take all that is left, also of the look under way."""
        self.seconds = 0.0

    def charge(self, since: float) -> None:
        """Take the time since ``since``, by ``time.thread_time``."""
        self.used += time.thread_time() - since
