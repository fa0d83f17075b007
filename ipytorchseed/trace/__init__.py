"""torch's operations as they run: who drew, and which first gave another result.

This folder and the public function have one name, so the folder itself can be called:
https://docs.python.org/3/reference/datamodel.html#customizing-module-attribute-access
"""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ipytorchseed.trace.tracing import trace


class _Trace(ModuleType):
    """A package that is also the function of its name."""

    def __call__(self, file: str | os.PathLike[str], *, summaries: bool = False) -> trace:
        """Record every operation of torch's inside a ``with`` block to a file.

        Args:
            file: Where to. A trace that lies there is replaced, anything else is not. Each of
                several ranks has a file of its own: ``a.trace`` becomes ``a.rank0.trace``, ...
            summaries: Whether to keep greatest value, mean and norm of each tensor too, so that
                ``ipytorchseed trace diff`` can tell rounding from more (``--rtol``).

        Returns:
            The block; afterwards ``path`` says where the file lies, ``count`` how many operations
            it holds.

        Raises:
            TraceError: On entering: it cannot be written there.
        """
        from ipytorchseed.trace.tracing import trace

        return trace(file, summaries=summaries)


sys.modules[__name__].__class__ = _Trace
