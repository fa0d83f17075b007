"""Which code is the user's own: the notebook's, and that of modules beside it."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from functools import lru_cache
from pathlib import Path

from ipytorchseed.reads.inside import is_module, module_names

_OURS = Path(__file__).parents[1]


@lru_cache(maxsize=1)
def _installed() -> tuple[str, ...]:
    """Folders of the interpreter and of installed packages, with a slash at the end."""
    paths = sysconfig.get_paths()
    folders = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    folders |= {*site.getsitepackages(), site.getusersitepackages(), str(_OURS)}
    return tuple(str(Path(folder).resolve()) + os.sep for folder in folders)


def is_installed_file(path: str) -> bool:
    """Tell whether a file belongs to the interpreter, to a package, or to ourselves."""
    return path.startswith(("<", *_installed())) or f"{os.sep}site-packages{os.sep}" in path


@lru_cache(maxsize=4096)
def _is_local_file(path: str) -> bool:
    try:
        return bool(path) and not is_installed_file(str(Path(path).resolve()))
    except (OSError, ValueError, RuntimeError):  # no path, or a circle of links
        return False


def is_local_module(name: object) -> bool:
    """Tell whether a module is the user's: the notebook itself, or a file outside of packages."""
    if type(name) is not str:
        return False
    if name == "__main__":
        return True
    module = sys.modules.get(name)
    if module is None or not is_module(module):
        return False
    file = module_names(module).get("__file__")
    return type(file) is str and _is_local_file(file)
