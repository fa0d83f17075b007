"""torch's alerts about operations without a deterministic algorithm.

In strict mode torch raises an error. We add a note that names the operation, the line, and what to
use instead. In warn-only mode torch warns. Python would drop repeated warnings of the same line;
our filter lets all of them through, so that they can be counted.
"""

from __future__ import annotations

import linecache
import re
import sys
import warnings
from collections import Counter, deque
from collections.abc import Callable
from traceback import walk_stack, walk_tb
from types import FrameType
from typing import Any

from msgspec import Struct

from ipytorchseed.determinism.advice import UNLISTED, find_advice
from ipytorchseed.patterns import lazy_pattern

Place = tuple[FrameType, int]
PickPlace = Callable[[list[Place]], Place | None]

_UNDETERMINED = "does not have a deterministic implementation"
_ATTENTION = "defaults to a non-deterministic algorithm"  # a warning only: strict mode avoids it
_CUBLAS = "not deterministic because it uses CuBLAS"
_OPERATION = (
    lazy_pattern(  # names have spaces; other errors quote alerts ("RuntimeError: put_ does")
        r"(?:^|: |[('\"])([\w.]{1,99}(?:::\w{1,99}){0,9}(?: [\w='\"]{1,99}){0,9})"
        rf" (?:{_UNDETERMINED}|{_ATTENTION})",
        re.MULTILINE,
    )
)
# Functions of torch that start a backward pass.
_ENGINE = frozenset({"_engine_run_backward", "run_backward"})

_recent: deque[Alert] = deque(maxlen=20)

_FILTER = rf"[\s\S]*({_UNDETERMINED}|{_ATTENTION}|{_CUBLAS})"


class Alert(Struct, frozen=True):
    """The alerts of one operation from one line.

    Attributes:
        operation: The operation's name in torch: ``put_``.
        line: The line of the cell or file, from 1; None if no frame of the user called it.
        code: The text of the forward line if it is known, else of ``line``.
        count: The number of alerts.
        forward: The line of the forward operation, for an alert in a backward pass; None if there
            is no such line, or if the pass was not watched.
    """

    operation: str
    line: int | None
    code: str
    count: int = 1
    forward: int | None = None

    def __str__(self) -> str:
        place = "" if self.line is None else f"line {self.line}, "
        if self.forward is not None:
            place = f"backward of line {self.forward}, "
        often = "once" if self.count == 1 else f"{self.count} times"
        return f"{self.operation} ({place}{often})"

    @property
    def backward(self) -> bool:
        """Whether the operation is a backward one; ``line`` then calls ``backward``."""
        return "backward" in self.operation

    @property
    def instead(self) -> str:
        """What to use instead."""
        return find_advice(self.operation) or UNLISTED


def recent_alerts() -> tuple[Alert, ...]:
    """Return the last alerts of this process, the latest last."""
    return tuple(_recent)


def operation_in(message: str) -> str | None:
    """Return the operation that an alert names; None if the text is not an alert."""
    named = _OPERATION.search(message)
    if named:
        return named.group(1)
    return "cuBLAS" if _CUBLAS in message else None


class AlertCollector:
    """Counts warn-only alerts while it is active, and hides them.

    Args:
        pick: Chooses the line of the cell or script to name, from frames and their lines, innermost
            first.
        forward: Returns the line of the forward operation during a backward pass.
    """

    def __init__(self, pick: PickPlace, forward: Callable[[], int | None] = lambda: None) -> None:
        self._pick = pick
        self._forward = forward
        self._counts: Counter[tuple[str, int | None, str, int | None]] = Counter()
        self._entry: Any = None
        self._shown: Any = None
        self._listening = False

    @property
    def alerts(self) -> list[Alert]:
        """The alerts so far, in the order of their first appearance."""
        return [
            Alert(operation, line, code, count, forward)
            for (operation, line, code, forward), count in self._counts.items()
        ]

    def take(self) -> list[Alert]:
        """Return the alerts so far, and forget them."""
        alerts = self.alerts
        _recent.extend(alerts)
        self._counts.clear()
        return alerts

    def start(self) -> None:
        """Add a filter that lets all alerts through, and count them."""
        # Python stores equal filters once. A comment makes ours unique, so that ``stop`` removes
        # no other filter.
        warnings.filterwarnings("always", message=_FILTER, module=f"(?#{id(self)})")
        self._entry = warnings.filters[0]
        self._shown = warnings.showwarning
        warnings.showwarning = self._show  # type: ignore[assignment] # passes the rest on
        self._listening = True

    def stop(self) -> None:
        """Stop counting; filters and hooks that others set since stay."""
        self._listening = False  # others may have kept our hook, and call or restore it
        if self._entry in warnings.filters:
            warnings.filters.remove(self._entry)  # type: ignore[attr-defined]
        if warnings.showwarning == self._show:
            warnings.showwarning = self._shown

    def _show(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        *rest: Any,
    ) -> None:
        operation = operation_in(str(message)) if self._listening else None
        if operation is None:
            self._shown(message, category, filename, lineno, *rest)
            return
        stack = [*walk_stack(sys._getframe(1))]  # noqa: SLF001 -- the documented way to it
        place = self._pick(stack)
        line = None if place is None else place[1]
        forward = self._forward() if _is_called_by_engine(stack, place) else None
        code = "" if place is None else _line((place[0], forward or place[1]))
        self._counts[operation, line, code, forward] += 1


def note_alert(error: BaseException, pick: PickPlace, forward: int | None = None) -> str | None:
    """Add a note to an error that torch raised for lack of a deterministic algorithm.

    Args:
        error: Any error; one that is not an alert stays unchanged.
        pick: Chooses the place to name, as for ``AlertCollector``.
        forward: The line of the forward operation, if a watched backward pass raised the error.

    Returns:
        The note, or None if the error is not an alert or already has its note.
    """
    operation = operation_in(str(error)) if isinstance(error, RuntimeError) else None
    if operation is None or any("--warn" in note for note in getattr(error, "__notes__", ())):
        return None
    stack = [*walk_tb(error.__traceback__)][::-1]
    place = pick(stack)
    note = _note(operation, place, forward, backward=_is_called_by_engine(stack, place))
    error.add_note(note)
    return note


def _is_called_by_engine(stack: list[Place], place: Place | None) -> bool:
    """Return whether a place started a backward pass.

    The stack is given with the innermost frame first.
    """
    for frame, _ in stack:
        if place is not None and frame is place[0]:
            return False  # a backward function of the user, which the pass called
        if frame.f_code.co_name in _ENGINE:
            return True
    return False


def _note(operation: str, here: Place | None, forward: int | None, *, backward: bool) -> str:
    alert = Alert(operation, None if here is None else here[1], "", 1, forward)
    place = "" if here is None else f" (line {here[1]})"
    lines = [f"{operation}{place} has no deterministic algorithm."]
    if (backward or alert.backward) and here is not None:
        forward = forward if backward else None
        called = f"in the backward pass called on line {here[1]}"
        lines = [f"{operation}, {called}, has no deterministic algorithm."]
        if forward is not None:
            text = linecache.getline(here[0].f_code.co_filename, forward).strip()
            lines.append(f"its forward is line {forward}: {text}")
    lines.append(f"instead: {alert.instead}")
    lines.append("or let it pass and list such operations: %%deterministic --warn")
    return "\n".join(lines)


def _line(place: Place) -> str:
    frame, number = place
    return linecache.getline(frame.f_code.co_filename, number, frame.f_globals).strip()


def innermost_in(filename: str) -> PickPlace:
    """Return a function that picks the innermost place in a file."""

    def pick(stack: list[Place]) -> Place | None:
        return next((place for place in stack if place[0].f_code.co_filename == filename), None)

    return pick
