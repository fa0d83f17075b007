"""Ctrl-C, held back while something is put in order."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def held_interrupts() -> Iterator[None]:
    """Hold an interrupt that arrives in the block until its end, and let it come then.

    Python raises ``KeyboardInterrupt`` between any two instructions of the main thread, where
    it would leave half of a state. Other threads get none.
    """
    handler = signal.getsignal(signal.SIGINT)
    if current_thread() is not main_thread() or not callable(handler):
        yield
        return
    arrived: list[int] = []
    try:
        signal.signal(signal.SIGINT, lambda number, _: arrived.append(number))
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if arrived:
            signal.raise_signal(signal.SIGINT)
