"""Random numbers drawn from python's and numpy's own sources, by line of the cell.

No operation of torch's stands behind such a draw. So the sources are looked at before and after
each line of the cell, by the interpreter's own line events; code that the cell calls is not
followed, which keeps it cheap.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ipytorchseed.rng.distance import draws_between
from ipytorchseed.rng.table import sources
from ipytorchseed.trace.places import Place
from ipytorchseed.trace.recording import Drawn

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

_LOOKED_AT = frozenset({"python", "numpy"})


class LineDraws:
    """Notes which lines of a cell draw from python's and numpy's own sources.

    Args:
        file: The name under which the cell was compiled.

    Attributes:
        drawn: What was drawn, in the order of the first draws.
        refused: Whether a debugger is at work, with which this would interfere.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self._line = 0
        self._drawn: dict[tuple[str, int], Drawn] = {}
        self._reads: dict[str, Callable[[], bytes | None]] = {}
        self._states: dict[str, bytes | None] = {}
        self.refused = False

    @property
    def drawn(self) -> list[Drawn]:
        """What was drawn."""
        return [*self._drawn.values()]

    def attach(self, frame: FrameType | None) -> None:
        """Begin, in this thread, with the frames of the cell that are under way."""
        if sys.gettrace() is not None:
            self.refused = True
            return
        self._reads = {each.name: each.read for each in sources() if each.name in _LOOKED_AT}
        self._states = {name: read() for name, read in self._reads.items()}
        while frame is not None:
            if frame.f_code.co_filename == self._file:
                self._line = self._line or frame.f_lineno or 0
                frame.f_trace = self._in_cell
            frame = frame.f_back
        sys.settrace(self._called)

    def detach(self) -> None:
        """Stop; the last line is looked at."""
        if not self.refused and sys.gettrace() == self._called:
            sys.settrace(None)
            self._look()

    def _called(self, frame: FrameType, event: str, argument: object) -> Any:  # noqa: ANN401, ARG002
        return self._in_cell if frame.f_code.co_filename == self._file else None

    def _in_cell(self, frame: FrameType, event: str, argument: object) -> Any:  # noqa: ANN401, ARG002
        self._look()
        self._line = frame.f_lineno or 0
        return self._in_cell

    def _look(self) -> None:
        """Give what moved since the last look to the line that ran since then."""
        for name, read in self._reads.items():
            now, before = read(), self._states[name]
            if now == before:
                continue
            self._states[name] = now
            place = Place(self._line, "", False)  # noqa: FBT003 -- a field
            key = name, self._line
            drawn = self._drawn.setdefault(key, Drawn(f"{name}'s own", place, name))
            drawn.add(draws_between(before, now) if before and now else None)
