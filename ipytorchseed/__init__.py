"""Explains why a re-run cell gave another number, and makes results repeat.

Every public name is loaded on first use: importing the package does not import torch, IPython or
numpy. See the README for a tour, and ``python -m ipytorchseed --help``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ipytorchseed import ranks as ranks
    from ipytorchseed.determinism.scope import deterministic as deterministic
    from ipytorchseed.inspector.inspector import Alone
    from ipytorchseed.notebook.rng_magic import Inspection
    from ipytorchseed.render.report import report as report
    from ipytorchseed.render.seeding import stamp as stamp
    from ipytorchseed.resume.check import check_resume as check_resume
    from ipytorchseed.rng.generators import seed_worker as seed_worker
    from ipytorchseed.rng.snapshot import RandomState as RandomState
    from ipytorchseed.rng.snapshot import Snapshot as Snapshot
    from ipytorchseed.rng.snapshot import restore as restore
    from ipytorchseed.rng.snapshot import snapshot as snapshot
    from ipytorchseed.rng.table import register_source as register_source
    from ipytorchseed.rng.table import seed as seed
    from ipytorchseed.studies.study import seeds as seeds
    from ipytorchseed.trace import trace as trace

    def inspector() -> Inspection | Alone:
        """Return the inspector; see ``ipytorchseed/inspector``."""


__version__ = "0.1.0"

_HOME = {
    "RandomState": "ipytorchseed.rng.snapshot",
    "Snapshot": "ipytorchseed.rng.snapshot",
    "check_resume": "ipytorchseed.resume.check",
    "deterministic": "ipytorchseed.determinism.scope",
    "register_source": "ipytorchseed.rng.table",
    "report": "ipytorchseed.render.report",
    "restore": "ipytorchseed.rng.snapshot",
    "seed": "ipytorchseed.rng.table",
    "seed_worker": "ipytorchseed.rng.generators",
    "seeds": "ipytorchseed.studies.study",
    "snapshot": "ipytorchseed.rng.snapshot",
    "stamp": "ipytorchseed.render.seeding",
}

# Modules that are also functions, or that have public functions.
_FOLDERS = ("inspector", "ranks", "trace")

# What IPython calls.
_HOOKS = ("load_ipython_extension", "unload_ipython_extension")

__all__ = [*_HOME, *_FOLDERS, *_HOOKS, "__version__"]  # noqa: PLE0604, RUF100 -- from tables


def __getattr__(name: str) -> Any:  # noqa: ANN401 -- a module attribute can be anything
    """Load a public name from its module, once."""
    if name in _FOLDERS:
        return import_module(f"ipytorchseed.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'ipytorchseed' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


def load_ipython_extension(shell: Any) -> None:  # noqa: ANN401 -- IPython is not imported here
    """Load the extension; ``%load_ext ipytorchseed`` calls this.

    Args:
        shell: The running ``InteractiveShell``.
    """
    import_module("ipytorchseed.notebook.extension").load(shell, _open_inspector, _make_button)


def unload_ipython_extension(shell: Any) -> None:  # noqa: ANN401 -- as above
    """Unload the extension; ``%unload_ext ipytorchseed`` calls this.

    Args:
        shell: The running ``InteractiveShell``.
    """
    import_module("ipytorchseed.notebook.extension").unload(shell)


def _open_inspector(extension: Any) -> Any:  # noqa: ANN401 -- as above
    """Create the inspector on first use, because it imports the widget stack."""
    return import_module("ipytorchseed.inspector.messages").MessageHandler(extension)


def _make_button(word: str, press: Any) -> Any:  # noqa: ANN401 -- as above
    return import_module("ipytorchseed.inspector.button").make_button(word, press)
