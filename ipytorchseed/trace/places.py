"""Where in the cell an operation came from: line, module path, forward or backward."""

from __future__ import annotations

from array import array
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FrameType

    Pick = Callable[[list[tuple[FrameType, int]]], "tuple[FrameType, int] | None"]

_ENGINE = "_engine_run_backward"
"""The function of torch's through which a backward pass is called."""

_DEEPEST = 500
"""Frames looked through for the cell's."""


class Place(NamedTuple):
    """Where an operation came from.

    Attributes:
        line: Of the cell, from 1; 0 where no line of it is on the way. In a backward pass, the
            line of the forward operation.
        module: The path of the innermost module, ``model.layer2.conv1``; or "".
        backward: Whether it belongs to a backward pass.
    """

    line: int
    module: str
    backward: bool


class Lines:
    """Finds the line of the cell on the stack.

    Args:
        file: The name under which the cell was compiled.
        names: The user's namespace.
        pick: Chooses among the user's frames, innermost first; for cells in which a magic takes
            text out. None where the innermost frame of ``file`` is right.
    """

    def __init__(self, file: str, names: Mapping[str, Any], pick: Pick | None = None) -> None:
        self._file = file
        self._names = names
        self._pick = pick

    def find(self, frame: FrameType | None) -> int:
        """Return the line that leads to a frame; 0 where there is none."""
        if self._pick is not None:
            return self._picked(frame, self._pick)
        file = self._file
        while frame is not None:
            if frame.f_code.co_filename == file:
                return frame.f_lineno or 0
            frame = frame.f_back
        return 0

    def _picked(self, frame: FrameType | None, pick: Pick) -> int:
        stack: list[tuple[FrameType, int]] = []
        while frame is not None and len(stack) < _DEEPEST:
            if frame.f_globals is self._names:
                stack.append((frame, frame.f_lineno or 0))
            frame = frame.f_back
        chosen = pick(stack)
        return chosen[1] if chosen is not None else 0

    def find_inside(self, frame: FrameType | None) -> int:
        """Return the line that leads to a frame from within a backward pass of the user's own.

        Returns:
            0 where the backward pass is torch's, or none is on the stack.
        """
        while frame is not None and frame.f_code.co_name != _ENGINE:
            if frame.f_code.co_filename == self._file:
                return frame.f_lineno or 0
            frame = frame.f_back
        return 0

    def between(self, frame: FrameType | None) -> list[str]:
        """Return the files from a frame up to the cell's, innermost first."""
        files: list[str] = []
        while frame is not None and frame.f_code.co_filename != self._file:
            files.append(frame.f_code.co_filename)
            frame = frame.f_back
        return [*takewhile(lambda file: file != self._file, files)]


class Sequence:
    """Which place made each node of the autograd graph, by the node's sequence number.

    torch counts nodes in each thread; a node is counted before its operation reaches a
    dispatch mode, so that the newest number is that of the operation under way
    (``torch/csrc/autograd/function.h``). Four bytes are kept for each node.
    """

    def __init__(self, begin: int) -> None:
        self._begin = begin
        self._places = array("i")

    def note(self, until: int, place: int) -> None:
        """Note that all nodes not noted before, below a number, were made by a place."""
        new = until - self._begin - len(self._places)
        if new > 0:
            self._places.extend([place] * new)

    @property
    def end(self) -> int:
        """The first number that is not noted yet."""
        return self._begin + len(self._places)

    def find(self, number: int) -> int | None:
        """Return the place that made a node, or None where it was made before."""
        index = number - self._begin
        return self._places[index] if 0 <= index < len(self._places) else None
