"""``ipytorchseed.trace``: records the operations of a block of code to a file."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ipytorchseed.rng.table import check_folder
from ipytorchseed.trace.recorder import Recorder

if TYPE_CHECKING:
    from ipytorchseed.trace.file import TraceFile


@contextmanager
def trace(file: str | os.PathLike[str], *, summaries: bool = False) -> Iterator[TraceFile]:
    """Record the torch operations of a ``with`` block; see ``its.trace``."""
    check_folder("torch")
    import torch  # noqa: F401 -- the imports below need it in ``sys.modules``

    from ipytorchseed.trace.draws import Draws
    from ipytorchseed.trace.file import TraceFile
    from ipytorchseed.trace.places import ScriptLines

    names = sys._getframe(2).f_globals  # noqa: SLF001 -- documented
    made = TraceFile(file, summaries=summaries)
    draws = Draws(names, count=False)
    recorder = Recorder(ScriptLines(names), names, draws=draws, trace=made)
    try:
        with recorder:
            yield made
    finally:
        for note in recorder.notes:
            warnings.warn(f"{made.path}: {note}", stacklevel=3)
