"""Records torch's operations: who drew, and which operation differs first.

The public function ``its.trace`` has the same name as this package, so the package is callable:
https://docs.python.org/3/reference/datamodel.html#customizing-module-attribute-access
"""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from ipytorchseed.trace.file import TraceFile


class _Trace(ModuleType):
    """A package that is also the function of its name."""

    def __call__(
        self, file: str | os.PathLike[str], *, summaries: bool = False
    ) -> AbstractContextManager[TraceFile]:
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
        from ipytorchseed.trace.tracing import trace

        return trace(file, summaries=summaries)


sys.modules[__name__].__class__ = _Trace
