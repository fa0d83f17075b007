"""The time budget for fingerprinting the values of a cell."""

from __future__ import annotations

import time

from msgspec import Struct

# Bytes of unchanged tensors that one budget reads again, as a check of the memo.
REREAD = 16 * 2**20

# The share of the time for reading values whole. The rest is for samples.
_WHOLE = 0.8


class SpentError(Exception):
    """The walk must stop, because reading the rest would exceed the budget."""


class LateError(SpentError):
    """The time is used up, which does not mean that the value is large."""


class PendingError(Exception):
    """The value is not ready, because a GPU is still computing it."""


class Budget(Struct):
    """The time allowed for several fingerprints, and how much of it was used.

    Only time spent in ``fingerprint`` counts, so one budget can be used both before and after a
    cell runs. CPU time of this thread is counted, so a busy machine does not change the results.

    Attributes:
        seconds: The CPU time allowed, in seconds.
        used: The CPU time used so far, in seconds.
        reread: The remaining number of bytes that are read again even if ``Memo`` says that they
            are unchanged.
        waited: Seconds spent waiting for a GPU, at most ``seconds``. They do not count as used,
            because the user's next access to the GPU would have waited as long.
    """

    seconds: float = 0.2
    used: float = 0.0
    reread: int = REREAD
    waited: float = 0.0

    @property
    def left(self) -> float:
        """Seconds left for reading values whole; negative once they are used up."""
        return self.seconds * _WHOLE - self.used

    @property
    def spent(self) -> bool:
        """Whether no time is left for reading large values whole."""
        return self.left <= 0

    def stop(self) -> None:
        """Stop the current walk and all later ones."""
        self.seconds = 0.0

    def charge(self, since: float) -> None:
        """Add the time since ``since``, a value of ``time.thread_time``."""
        self.used += time.thread_time() - since
