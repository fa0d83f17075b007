"""The time budget for looking at the values of a cell."""

from __future__ import annotations

import time

from msgspec import Struct

# Bytes of known tensors that a round reads again anyway.
REREAD = 16 * 2**20

# The share of the time in which values are read whole; the rest is for samples.
_WHOLE = 0.8


class SpentError(Exception):
    """The walk must end here, because the rest would exceed its budget."""


class LateError(SpentError):
    """The time is over, although the value may not be large."""


class PendingError(Exception):
    """The value is not ready, because a GPU is still computing it."""


class Budget(Struct):
    """The time for a round of fingerprints, and how much of it was used.

    Only time within ``fingerprint`` counts, so that one budget can serve a cell before and after
    it runs. Only this thread's time counts, so that a busy machine changes no answer.

    Attributes:
        seconds: The budget.
        used: How much of it was used.
        reread: Bytes that may still be read again although a cheap proof says that they are
            unchanged; see ``Memo``.
        waited: Seconds spent waiting for a GPU, at most ``seconds``. They are separate, because
            the next reader would have waited as long.
    """

    seconds: float = 0.2
    used: float = 0.0
    reread: int = REREAD
    waited: float = 0.0

    @property
    def left(self) -> float:
        """Seconds in which values may still be read whole; negative once they are used up."""
        return self.seconds * _WHOLE - self.used

    @property
    def spent(self) -> bool:
        """Whether only small values are read whole from now on."""
        return self.left <= 0

    def deadline(self, began: float, *, whole: bool) -> float:
        """Return when a look must end, by ``time.thread_time``.

        Args:
            began: When it started, by the same clock.
            whole: Whether it reads values whole, rather than a sample.
        """
        return began + (self.left if whole else self.seconds - self.used)

    def stop(self) -> None:
        """Use up all that is left, also for the look in progress."""
        self.seconds = 0.0

    def charge(self, since: float) -> None:
        """Charge the time since ``since``, by ``time.thread_time``."""
        self.used += time.thread_time() - since
