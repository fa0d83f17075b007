"""Which modules are a library's, and of which version, as opposed to the user's own."""

from __future__ import annotations

import sys
import sysconfig
from functools import cache
from types import ModuleType
from typing import Any

_dictionary = vars(ModuleType)["__dict__"].__get__


def dictionary(module: object) -> dict[str, Any]:
    """Return a module's names, without running the ``__getattr__`` that it may have."""
    return _dictionary(module) if issubclass(type(module), ModuleType) else {}


def attribute(module: str, name: str) -> object:
    """Return what an imported module defines under ``name``, or None."""
    return dictionary(sys.modules.get(module)).get(name)


_INSTALLED = ("site-packages", "dist-packages")
"""Folders of installed packages, also where ``sysconfig`` does not name them: a user's own."""


@cache
def _folders() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return tuple({paths[name] for name in names if paths.get(name)})


def version(module: str) -> str | None:
    """Return the version of the library that a module belongs to.

    Returns:
        Its version, or nothing in text where it tells none; None for a module of the user's own:
        the notebook, a script, a package under development.
    """
    root = module.partition(".")[0]
    if root == "__main__":  # whatever file started it
        return None
    if root in sys.stdlib_module_names:
        return sys.version.partition(" ")[0]
    names = dictionary(sys.modules.get(root))
    origin = names.get("__file__")
    if type(origin) is not str:
        return None
    if not origin.startswith(_folders()) and not any(name in origin for name in _INSTALLED):
        return None
    told: Any = names.get("__version__")
    if not issubclass(type(told), str):
        return ""
    return str.__getitem__(told, slice(None))  # torch has a class of its own for it
