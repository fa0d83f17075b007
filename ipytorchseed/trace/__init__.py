"""torch's operations as they run: who drew, and which first gave another result.

This folder and the public function have one name, so the folder itself can be called:
https://docs.python.org/3/reference/datamodel.html#customizing-module-attribute-access
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

    from ipytorchseed.trace.tracing import trace


class _Trace(ModuleType):
    """A folder of code that is also the function of its name."""

    def __call__(self, file: str | os.PathLike[str], *, summaries: bool = False) -> trace:
        """Record every operation of torch's inside a ``with`` block; see ``tracing.trace``."""
        from ipytorchseed.trace.tracing import trace

        return trace(file, summaries=summaries)


sys.modules[__name__].__class__ = _Trace
