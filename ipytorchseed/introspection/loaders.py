"""Helpers for finders in ``sys.meta_path`` that wrap the loaders of modules."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib.machinery import ModuleSpec
from itertools import dropwhile
from operator import is_not
from types import FrameType, ModuleType
from typing import Any

# Runs a module's code with its own loader.
Run = Callable[[Any, ModuleType], None]

_RELOADS = importlib.reload.__code__


def find_after(
    finder: object, name: str, path: Sequence[str] | None, target: ModuleType | None
) -> ModuleSpec | None:
    """Return the spec that the finders after ``finder`` find, or None."""
    for other in dropwhile(partial(is_not, finder), [*sys.meta_path]):  # earlier ones found none
        find = None if other is finder else getattr(other, "find_spec", None)
        spec: ModuleSpec | None = None if find is None else find(name, path, target)
        if spec is not None:
            return spec
    return None


def wrap_loader(spec: ModuleSpec, run: Run) -> None:
    """Replace a spec's loader by one that calls ``run`` to run the module's code."""
    if hasattr(spec.loader, "create_module") and hasattr(spec.loader, "exec_module"):
        spec.loader = _Loader(spec.loader, run)  # type: ignore[assignment]


def is_imported(name: str) -> bool:
    """Return whether the finder that calls this was called to import a module.

    It may also be called by code that only checks whether the module exists, as in
    ``importlib.util.find_spec``.
    """
    frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 -- the caller of the finder
    while frame is not None:
        code = frame.f_code
        if code is _RELOADS or code.co_name == "_find_and_load_unlocked":
            return bool(frame.f_locals.get("name") == name)
        frame = frame.f_back
    return False


class _Loader:
    """A wrapper of a module's loader, removed before the module's code runs."""

    def __init__(self, loader: Any, run: Run) -> None:
        self._loader = loader
        self._run = run

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)  # type: ignore[no-any-return]

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        try:
            self._run(self._loader, module)
        except BaseException as error:
            # Remove our frames from the traceback.
            trace = error.__traceback__ and error.__traceback__.tb_next
            error.__traceback__ = trace and trace.tb_next
            del trace
            raise
