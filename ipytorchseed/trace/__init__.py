"""Records torch's operations: what drew, and which operation differs first.

The public function ``its.trace`` has the same name as this package, so the package is callable:
https://docs.python.org/3/reference/datamodel.html#customizing-module-attribute-access
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ipytorchseed.trace.file import TraceFile


@contextmanager
def trace(file: str | os.PathLike[str], *, summaries: bool = False) -> Iterator[TraceFile]:
    """Record every torch operation inside a ``with`` block to a file.

    Args:
        file: The file. An existing trace is overwritten; other files are not. If there are
            several ranks, each writes its own file: ``a.trace`` becomes ``a.rank0.trace``, ...
        summaries: Whether to record also the greatest value, the mean and the norm of each
            tensor, so that ``ipytorchseed trace diff --rtol`` can recognize rounding.

    Returns:
        A context manager for the block. ``as`` binds the trace: ``path`` is its file, and
        ``count`` the number of recorded operations.

    Raises:
        TraceError: The file cannot be written. The ``with`` statement raises this.
    """
    from ipytorchseed.rng.table import check_folder

    check_folder("torch")
    import torch  # noqa: F401 -- the imports below need it in ``sys.modules``

    from ipytorchseed.trace.draws import Draws
    from ipytorchseed.trace.file import TraceFile
    from ipytorchseed.trace.places import ScriptLines
    from ipytorchseed.trace.recorder import Recorder

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


class _Trace(ModuleType):
    """A package that is also the function of its name."""

    __call__ = staticmethod(trace)


sys.modules[__name__].__class__ = _Trace
