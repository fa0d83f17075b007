"""Delays ``KeyboardInterrupt`` while state is changed or put back."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class HeldInterrupt:
    """Stands in for the handler of interrupts, and notes whether one arrived.

    Python raises ``KeyboardInterrupt`` between any two instructions of the main thread, where
    it would leave half of a state. Other threads get none.

    Args:
        on_first: Called when one arrives.
        patient: Hold further ones as well; else each raises ``KeyboardInterrupt``.

    Attributes:
        arrived: Whether one did.
    """

    def __init__(
        self, on_first: Callable[[], object] = lambda: None, *, patient: bool = True
    ) -> None:
        self.arrived = False
        self._on_first = on_first
        self._patient = patient
        self._handler: Any = None

    def hold(self) -> None:
        """Take the place of the handler; not in another thread, nor of one that is as patient."""
        handler = signal.getsignal(signal.SIGINT)
        if current_thread() is not main_thread() or not callable(handler):
            return
        if not isinstance(handler, HeldInterrupt) or self._patient > handler._patient:  # noqa: SLF001 -- its own class
            self._handler = handler
            signal.signal(signal.SIGINT, self)

    def release(self) -> None:
        """Put the handler back; what arrived is left to the caller."""
        handler, self._handler = self._handler, None
        if handler is not None:
            signal.signal(signal.SIGINT, handler)

    def note(self) -> None:
        """Note that one arrived."""
        if not self.arrived:
            self.arrived = True
            self._on_first()

    def __call__(self, *_: object) -> None:
        """Handle the signal."""
        if self.arrived and not self._patient:
            raise KeyboardInterrupt
        self.note()


@contextmanager
def held_interrupts() -> Iterator[None]:
    """Hold an interrupt that arrives in the block until its end, and let it come then.

    In a block within a block, the outer one holds.
    """
    held = HeldInterrupt()
    try:
        held.hold()
        yield
    finally:
        held.release()
        if held.arrived:
            signal.raise_signal(signal.SIGINT)
