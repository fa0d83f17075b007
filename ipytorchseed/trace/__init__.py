"""Records torch's operations: who drew, and which operation differs first.

This folder and the public function have one name, so the folder itself can be called:
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
            file: The file. An existing trace is overwritten, other files are not. Each of several
                ranks has its own file: ``a.trace`` becomes ``a.rank0.trace``, ...
            summaries: Whether to keep greatest value, mean and norm of each tensor too, so that
                ``ipytorchseed trace diff`` can recognize rounding (``--rtol``).

        Returns:
            The block. It gives the trace: ``path`` is the file, and ``count`` the number of
            operations in it after the block.

        Raises:
            TraceError: On entering: the file cannot be written.
        """
        from ipytorchseed.trace.tracing import trace

        return trace(file, summaries=summaries)


sys.modules[__name__].__class__ = _Trace
