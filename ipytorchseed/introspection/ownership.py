"""Distinguishes the user's modules from modules of installed libraries."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from ipytorchseed.introspection.values import imported, module_names, text

# The ends of the names of folders with packages, and of folders with metadata, which can be
# anywhere on ``sys.path``.
_PACKAGES = tuple(
    f"{name}{os.sep}"
    for name in (f"{os.sep}site-packages", f"{os.sep}dist-packages", ".dist-info", ".egg-info")
)

_OURS = Path(__file__).parents[1]


@lru_cache(maxsize=1)
def _installed() -> tuple[str, ...]:
    """Return the standard library, as a folder and as an archive, and this package."""
    library = Path(os.__file__).resolve().parent
    major, minor = sys.version_info[:2]
    archive = library.with_name(f"python{major}{minor}.zip")
    return f"{library}{os.sep}", str(archive), f"{_OURS.resolve()}{os.sep}"


def is_installed_file(path: str) -> bool:
    """Return whether a file belongs to the interpreter, a package, or ipytorchseed."""
    return path.startswith(("<", *_installed())) or any(name in path for name in _PACKAGES)


@lru_cache(maxsize=4096)
def is_local_file(path: str) -> bool:
    """Return whether a file is the user's: not of Python, a package or ipytorchseed."""
    folder, name = os.path.split(path)
    try:
        place = os.path.join(_resolved(folder), name)  # noqa: PTH118 -- fast, for each module
        target = os.path.realpath(place) if os.path.islink(place) else place  # noqa: PTH114 -- as above
    except (OSError, ValueError):  # not a path
        return False
    return not is_installed_file(target)


# Resolves the links in a folder's path. Cached, because most files are in few folders.
_resolved = lru_cache(maxsize=1024)(os.path.realpath)


def is_local_module(name: object) -> bool:
    """Return whether a module is the user's: the notebook, or one of the user's files."""
    if type(name) is not str:
        return False
    if name == "__main__":
        return True
    file = _file_of(name)
    return bool(file) and is_local_file(file)


def is_of_library(name: str) -> bool:
    """Return whether a module belongs to Python or to an installed package."""
    return name.partition(".")[0] in sys.stdlib_module_names or is_installed_file(_file_of(name))


def library_version(module: str) -> str | None:
    """Return the version of the library that a module belongs to.

    Returns:
        The version, or an empty string if it is unknown. None for the user's modules: the notebook,
        a script, a package under development.
    """
    root = module.partition(".")[0]
    standard = root in sys.stdlib_module_names
    file = _file_of(module) or _file_of(root)
    if root == "__main__" or (is_local_file(file) if file else not standard):
        return None
    if standard:
        return sys.version.partition(" ")[0]
    told = imported(root, "__version__")
    if not issubclass(type(told), str):
        return ""
    return str.__getitem__(told, slice(None))  # torch has a class for its version


def _file_of(name: str) -> str:
    module = sys.modules.get(name)
    names = vars(module) if type(module) is ModuleType else module_names(module)  # most are plain
    return text(names.get("__file__"))
