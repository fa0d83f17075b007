"""Holds ``KeyboardInterrupt`` while state is changed or restored.

Python raises it between any two instructions of the main thread, including ``finally`` lines and
exits of context managers. So a command holds interrupts from before its first change until after
its last restore. It lets them through only while code runs that may be interrupted anywhere.
"""

from __future__ import annotations

import signal
import sys
import time
from _thread import interrupt_main
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock, Timer, current_thread, main_thread
from types import FrameType
from typing import Any, NamedTuple, TypeVar

Result = TypeVar("Result")

# Seconds until a second interrupt counts: a key that is pressed repeatedly sends them sooner.
_LONG = 0.5


class Interruptible(NamedTuple):
    """The code in which interrupts are raised, while they are held in all other code.

    Attributes:
        frame: The frame that calls the code; None for code in any frame.
        names: The global names of the code, or of a function or cell that calls it; None for any.
        once: Raise only the first interrupt, because the code does not catch it.
    """

    frame: FrameType | None
    names: Mapping[str, Any] | None = None
    once: bool = False

    def contains(self, frame: FrameType | None) -> bool:
        """Return whether a frame runs this code."""
        inside = False
        while frame is not None and frame is not self.frame:
            inside = inside or self.names is None or frame.f_globals is self.names
            frame = frame.f_back
        return inside and frame is self.frame


class HeldInterrupt:
    """A handler of SIGINT that records whether an interrupt arrived.

    Args:
        tell: Called for each interrupt that is held.

    Attributes:
        arrived: Whether an interrupt arrived that was not raised yet.
        tell: Called for each interrupt that is held.
        patient: Whether further interrupts are held too. If not, a later interrupt raises
            ``KeyboardInterrupt``, because the code did not end soon after the first one.
        allowed: The code in which interrupts are raised instead of held; None for no code.
    """

    def __init__(self, tell: Callable[[], object] = lambda: None) -> None:
        self.arrived = False
        self.patient = True
        self.allowed: Interruptible | None = None
        self.tell = tell
        self._holding = False
        self._since = 0.0
        self._before: Any = None
        self._raise: Any = signal.default_int_handler

    def hold_back(self, before: Any, raising: Any = signal.default_int_handler) -> bool:
        """Install this handler in place of another.

        Args:
            before: The handler to replace, from ``signal.getsignal``.
            raising: Called for an interrupt that is raised instead of held.

        Returns:
            Whether this handler is installed.
        """
        if before is self or current_thread() is not main_thread():
            return before is self
        self._before, self._raise, self._holding = before, raising, True
        signal.signal(signal.SIGINT, self)
        return True

    def release(self) -> None:
        """Restore the handler; the caller must act on an interrupt that arrived."""
        if current_thread() is not main_thread():  # the main thread may hold them
            return
        self.allowed = None
        handler: Any = signal.getsignal(signal.SIGINT)
        if self._holding and handler is self:  # else the user's code set another handler
            signal.signal(signal.SIGINT, self._before)
        self._holding = False

    def note(self) -> None:
        """Record that an interrupt arrived."""
        if not self.arrived:
            self.arrived, self._since = True, time.monotonic()
        self.tell()

    def deliver(self) -> None:
        """Raise the interrupt that arrived, if any."""
        if self.arrived:
            self.arrived = False
            self._raise(signal.SIGINT, sys._getframe())  # noqa: SLF001 -- what handlers are given

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Handle the signal."""
        allowed = self.allowed
        if not self._holding:  # user code kept this handler, and restored it later
            self._raise(number, frame)
        elif allowed is not None and allowed.contains(frame):
            if allowed.once:
                self.allowed = None
            self._raise(number, frame)
        elif self.arrived and not self.patient and time.monotonic() - self._since > _LONG:
            self.patient = True
            raise KeyboardInterrupt
        else:
            self.note()


def holder() -> HeldInterrupt | None:
    """Return the handler that holds interrupts in this thread, or None."""
    handler = signal.getsignal(signal.SIGINT)
    held = isinstance(handler, HeldInterrupt) and current_thread() is main_thread()
    return handler if held else None  # type: ignore[return-value]  # as just asked


def let_through(
    function: Callable[[], Result], names: Mapping[str, Any] | None = None, *, once: bool = False
) -> Result:
    """Call a function in which interrupts are raised, inside code that holds them.

    Args:
        function: The function. As soon as it returns, interrupts are held again.
        names: Raise interrupts only while code with these global names runs. They are held in the
            callers of that code, such as the shell around a cell.
        once: Raise only the first interrupt, for a function that then restores something.

    Raises:
        KeyboardInterrupt: An interrupt arrived, in the function or before.
    """
    held = holder()
    if held is None:
        return function()
    held.deliver()
    outer, held.allowed = held.allowed, Interruptible(sys._getframe(), names, once)  # noqa: SLF001 -- its own frame
    try:
        return function()
    except KeyboardInterrupt:
        held.arrived = False  # repeated interrupts are dropped
        raise
    finally:
        held.allowed = outer
        signal.signal(signal.SIGINT, held)  # the function may have set another handler
        held.deliver()


@contextmanager
def told_of_interrupts(tell: Callable[[], object]) -> Iterator[None]:
    """Call ``tell`` for each interrupt that is held in the block."""
    held = holder() or HeldInterrupt()  # the latter holds nothing
    before, held.tell = held.tell, tell
    try:
        yield
    finally:
        held.tell = before


@contextmanager
def held_interrupts() -> Iterator[None]:
    """Hold interrupts that arrive in the block, and raise one at its end.

    In nested blocks, the outermost one raises it. If an interrupt ends the block, further ones are
    dropped while the block exits, because the user wants nothing else.
    """
    outer = holder()
    held = outer or HeldInterrupt()
    allowed, patient = held.allowed, held.patient
    handler = signal.getsignal(signal.SIGINT)
    if outer is None and callable(handler):
        held.hold_back(handler, handler)
    held.allowed, held.patient = None, True
    try:
        yield
    except KeyboardInterrupt:
        if outer is None or allowed is not None:
            held.arrived = False
        raise
    finally:
        held.allowed, held.patient = allowed, patient
        if outer is None:
            held.release()
        if held.arrived and (outer is None or allowed is not None):
            held.arrived = False
            signal.raise_signal(signal.SIGINT)


class TimeLimit:
    """A time limit, after which the main thread is interrupted as by Ctrl-C.

    Enter it while interrupts are held. The interrupt is then raised inside ``let_through``, or at
    the end of the code that holds interrupts, and never later.

    Args:
        seconds: The limit for the block; None for no limit.

    Attributes:
        expired: Whether the block took too long and was interrupted.
    """

    def __init__(self, seconds: float | None) -> None:
        self.expired = False
        self._lock = Lock()
        self._timer = None if seconds is None else Timer(seconds, self._interrupt)

    def __enter__(self) -> None:
        if self._timer is not None and current_thread() is main_thread():
            self._timer.daemon = True
            self._timer.start()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()

    def _interrupt(self) -> None:
        with self._lock:
            if self._timer is None or self._timer.finished.is_set():
                return
            self.expired = True
            if hasattr(signal, "pthread_kill"):  # wakes up a sleep
                signal.pthread_kill(main_thread().ident or 0, signal.SIGINT)
            else:
                interrupt_main()
