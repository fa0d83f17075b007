"""The live inspector: the only widget code. Called as ``ipytorchseed.inspector()``, it shows it.

This folder and the public function have one name, so the folder itself can be called:
https://docs.python.org/3/reference/datamodel.html#customizing-module-attribute-access
"""

from __future__ import annotations

import sys
from types import ModuleType


class _Inspector(ModuleType):
    """A folder of code that is also the function of its name."""

    def __call__(self) -> None:
        """Show the state of every source, the settings and the timeline of runs, as ``%rng`` does.

        Raises:
            LookupFailure: The extension is not loaded here, or this is no IPython.
        """
        from ipytorchseed.notebook.extension import running
        from ipytorchseed.notebook.rng_magic import show

        show(running())


sys.modules[__name__].__class__ = _Inspector
