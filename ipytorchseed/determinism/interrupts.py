"""Delays ``KeyboardInterrupt`` while state is changed or put back."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import Any


class HeldInterrupt:
    """Replaces the handler of SIGINT, and notes whether an interrupt arrived.

    Python raises ``KeyboardInterrupt`` between any two instructions of the main thread, and would
    leave a state half written. Other threads get none.

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
        """Replace the handler, unless it holds as much already, or this is another thread."""
        self.hold_back(signal.getsignal(signal.SIGINT))

    def hold_back(self, handler: Any) -> None:  # as ``signal.getsignal`` says
        """Replace this handler; see ``hold``."""
        if isinstance(handler, HeldInterrupt) and self._patient <= handler._patient:  # noqa: SLF001 -- its own class
            return
        if callable(handler) and current_thread() is main_thread():
            self._handler = handler
            signal.signal(signal.SIGINT, self)

    def release(self) -> None:
        """Put the handler back; the caller has to act on an interrupt that arrived."""
        if current_thread() is not main_thread():  # which may hold meanwhile
            return
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
