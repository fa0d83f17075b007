"""The live inspector; only this folder uses widgets.

The package and the public function ``ipytorchseed.inspector`` have the same name, so the package
can be called:
https://docs.python.org/3/reference/datamodel.html#customizing-module-attribute-access
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ipytorchseed.inspector.inspector import Alone
    from ipytorchseed.notebook.rng_magic import Inspection


class _Inspector(ModuleType):
    """The class of this package, which makes the package callable."""

    def __call__(self) -> Inspection | Alone:
        """Return what ``%rng`` shows: states, settings and the timeline of runs.

        Display it like any value: as a cell's last expression, or with ``display``. In marimo and
        in scripts it is a widget without a timeline, which can also be printed.

        Raises:
            LookupFailure: IPython runs, but the extension is not loaded in it.
        """
        from ipytorchseed.notebook.extension import running

        state = running()
        if state is None:
            from ipytorchseed.inspector.inspector import Alone

            return Alone(sys._getframe(1).f_globals)  # noqa: SLF001 -- the caller's generators
        from ipytorchseed.notebook.rng_magic import Inspection

        return Inspection(state)


sys.modules[__name__].__class__ = _Inspector
