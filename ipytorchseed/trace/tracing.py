"""``ipytorchseed.trace``: the operations of a block of a script, kept in a file."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Self

from ipytorchseed.errors import ScopeError
from ipytorchseed.rng.table import check_folder
from ipytorchseed.trace.recorder import Recorder


class trace:  # noqa: N801 -- a context manager, written as the function that it looks like
    """A block whose operations are recorded: what ``ipytorchseed.trace`` returns.

    Attributes:
        path: The file; known once the block is entered.
        count: The number of recorded operations.

    Raises:
        TraceError: On entering: the file cannot be written.
    """

    def __init__(self, file: str | os.PathLike[str], *, summaries: bool = False) -> None:
        self._file = file
        self._summaries = summaries
        self._recorder: Recorder | None = None
        self.path: Path | None = None
        self.count = 0

    def __enter__(self) -> Self:
        check_folder("torch")
        import torch  # noqa: F401 -- what follows looks at it

        from ipytorchseed.trace.draws import Draws
        from ipytorchseed.trace.file import TraceFile
        from ipytorchseed.trace.places import ScriptLines

        if self._recorder is not None:
            raise ScopeError("this trace is under way; make another one inside it")
        names = sys._getframe(1).f_globals  # noqa: SLF001 -- the documented way to it
        file = TraceFile(self._file, summaries=self._summaries)
        self.path = file.path
        draws = Draws(names, count=False)
        self._recorder = Recorder(ScriptLines(names), names, draws=draws, trace=file)
        self._recorder.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        recorder, self._recorder = self._recorder, None
        if recorder is None or recorder.trace is None:
            raise ScopeError("this trace was not begun")
        recorder.__exit__(*raised)
        self.count = recorder.trace.count
        for note in recorder.notes:
            warnings.warn(f"{self.path}: {note}", stacklevel=2)
