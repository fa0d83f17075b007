"""Locates the code of a running cell: its text, file and lines."""

from __future__ import annotations

import linecache
import sys
from functools import partial
from itertools import takewhile
from traceback import walk_stack
from types import FrameType
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ipytorchseed.notebook.runs import Run
from ipytorchseed.notebook.state import State
from ipytorchseed.notebook.transform import deterministic_head
from ipytorchseed.trace.places import Lines

if TYPE_CHECKING:
    from ipytorchseed.determinism.alerts import Place


class Cell(Struct, frozen=True):
    """A cell that can be run again.

    Attributes:
        source: Its text.
        text: Its text as Python.
        file: The file name that it was compiled with.
        lines: Finds the cell's line on the stack.
    """

    source: str
    text: str
    file: str
    lines: Lines


class Locator:
    """Finds the running cell and its current line.

    Args:
        state: The state of the extension in the shell.
    """

    def __init__(self, state: State) -> None:
        self._shell = state.shell
        self._runs = state.runs

    def cell(self, run: Run) -> Cell:
        """Return the cell of a run, ready to be run again."""
        shell: Any = self._shell
        info: Any = run.info
        source = str(info.raw_cell)
        text = getattr(info, "transformed_cell", None) or str(shell.transform_cell(source))
        file = _file_of_cell(sys._getframe(1), shell.user_ns)  # noqa: SLF001 -- the documented way
        heads = [line for line in source.splitlines() if line.startswith("%%")]
        taken = any(not deterministic_head(head) for head in heads)
        pick = partial(self.pick, text=source) if taken else None
        return Cell(source, text, file, Lines(file, shell.user_ns, pick))

    def pick(self, stack: list[Place], text: str | None = None) -> Place | None:
        """Return the frame on a stack that runs the cell, with its line in the cell.

        ``%%time`` runs the lines below it as code without a file; their numbers are shifted by the
        lines above. ``%time`` runs the rest of its line in the same way; its own line is returned.

        Args:
            stack: Frames and their lines, innermost first.
            text: The cell's text; None for the text of the current run.
        """
        names = self._shell.user_ns
        users = [place for place in stack if place[0].f_globals is names]
        files = [frame.f_code.co_filename for frame, _ in users]
        modules = [
            file
            for (frame, _), file in zip(users, files, strict=True)
            if frame.f_code.co_name == "<module>"
        ]
        texts = list(takewhile(lambda file: not linecache.getlines(file), modules))
        above = self._lines_above(text) if texts else 0
        if above:
            frame, line = users[files.index(texts[-1])]
            return frame, line + above
        cells = modules[len(texts) :]
        return users[files.index(cells[0])] if cells else next(iter(users), None)

    def _lines_above(self, text: str | None) -> int:
        """Count the lines of a cell above the text that ``%%time`` or the like runs."""
        run = self._runs.current
        info = run.info if run is not None else None
        if text is None:
            text = info.raw_cell or "" if info is not None else ""
        lines = text.splitlines()
        heads = enumerate(takewhile(lambda line: line.startswith("%%"), lines), 1)
        above = max((n for n, head in heads if not deterministic_head(head)), default=0)
        # IPython drops empty lines at the beginning of the text that such a magic runs.
        empty = takewhile(lambda line: not line.strip(), lines[above:]) if above else ()
        return above + sum(1 for _ in empty)


def _file_of_cell(frame: FrameType, names: dict[str, Any]) -> str:
    """Return the file name of the user's innermost frame that has source text."""
    users = (each.f_code.co_filename for each, _ in walk_stack(frame) if each.f_globals is names)
    return next(filter(linecache.getlines, users), "")
