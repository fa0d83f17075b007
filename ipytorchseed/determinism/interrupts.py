"""Ctrl-C, held back while something is put in order."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Holder:
    """Stands in for the handler of interrupts, and notes whether one arrived."""

    arrived = False

    def __call__(self, *_: object) -> None:
        self.arrived = True


@contextmanager
def held_interrupts() -> Iterator[None]:
    """Hold an interrupt that arrives in the block until its end, and let it come then.

    Python raises ``KeyboardInterrupt`` between any two instructions of the main thread, where
    it would leave half of a state. Other threads get none. In a block within a block, the outer
    one holds.
    """
    handler = signal.getsignal(signal.SIGINT)
    on_main = current_thread() is main_thread()
    if not on_main or not callable(handler) or isinstance(handler, _Holder):
        yield
        return
    holder = _Holder()
    try:
        signal.signal(signal.SIGINT, holder)
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if holder.arrived:
            signal.raise_signal(signal.SIGINT)
