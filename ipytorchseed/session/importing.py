"""Distinguishes draws of packages during their import from those of the cell."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.machinery import ModuleSpec
from itertools import dropwhile
from operator import is_not
from types import ModuleType
from typing import Any

from ipytorchseed.introspection.ownership import is_installed_file
from ipytorchseed.rng.source import digest
from ipytorchseed.rng.table import sources

_RELOADS = importlib.reload.__code__

# Packages that draw from numpy's generator only if code calls them to.
_DRAW_ONLY_IF_ASKED = sys.stdlib_module_names | {
    "ipytorchseed", "jinja2", "numpy", "rich", "torch",
}  # fmt: skip

_DRAWN_FROM = frozenset({"python", "numpy", "torch.cpu"})


class ImportWatch:
    """Records how imports advance sources.

    It is a finder in ``sys.meta_path``, so it sees only modules that are not imported yet, and
    those that ``importlib.reload`` reloads. It wraps the loader of the outermost one, because what
    a module imports is part of its import. Draws of the user's own modules count as the cell's.

    Attributes:
        steps: For each source, its states before and after each import that advanced it.
        inside: Whether a package is being imported.
        own: The files of the user's own modules that were imported or reloaded, by module.
        may_draw: Whether an imported module may draw from numpy although the cell does not. This
            is assumed of all except torch, numpy, the standard library, and what our own commands
            import.
    """

    def __init__(self) -> None:
        self.steps: dict[str, list[tuple[str | None, str]]] = {}
        self.inside = False
        self.own: dict[str, str] = {}
        self.may_draw = False

    def clear(self) -> None:
        """Forget what was recorded."""
        self.steps.clear()
        self.own.clear()
        self.may_draw = False

    def start(self) -> None:
        """Start recording."""
        self.inside = False
        is_installed_file("")  # the first call makes sysconfig import a module
        if self not in sys.meta_path:
            # Second, as a cell may put its own finder first and later pop the first one.
            sys.meta_path.insert(1, self)

    def stop(self) -> None:
        """Stop recording."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def only(self, before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
        """Return the sources that only imports advanced.

        Args:
            before: The state of each source when the cell began.
            after: The state of each source when the cell ended.
        """
        found = []
        for name, steps in self.steps.items():
            at = before.get(name)
            for begin, end in steps:
                if begin != at:
                    break
                at = end
            else:
                if at == after.get(name):
                    found.append(name)
        return tuple(found)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec that the other finders find, with its loader wrapped."""
        frame = sys._getframe(2)  # noqa: SLF001
        # The second one, if another finder delegates to us.
        askers = frame.f_code, frame.f_back and frame.f_back.f_code
        loads = any(it and it.co_name == "_find_and_load_unlocked" for it in askers)
        if self.inside or not (loads or _RELOADS in askers):
            return None  # the caller only wants to know whether it can be imported
        for finder in dropwhile(partial(is_not, self), [*sys.meta_path]):  # earlier ones had none
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = None if find is None else find(name, path, target)
            if spec is not None:
                self.may_draw |= name.partition(".")[0] not in _DRAW_ONLY_IF_ASKED
                if is_installed_file(spec.origin or ""):
                    if _runs_modules(spec.loader):
                        spec.loader = _Loader(spec.loader, self)  # type: ignore[assignment]
                elif spec.has_location and spec.origin:
                    self.own[name] = spec.origin
                return spec
        return None

    def run(self, loader: Any, module: ModuleType) -> None:  # noqa: ANN401 -- any class
        """Run a module's code with its own loader, and record what that draws."""
        self.inside = True
        before = _states()
        try:
            loader.exec_module(module)
        finally:
            self.inside = False
            for name, state in _states().items():
                if before.get(name) != state:
                    self.steps.setdefault(name, []).append((before.get(name), state))


class _Loader:
    """Replaces a module's loader until the module's code runs."""

    def __init__(self, loader: Any, watch: ImportWatch) -> None:  # noqa: ANN401 -- as above
        self._loader = loader
        self._watch = watch

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- as above
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)  # type: ignore[no-any-return]

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        try:
            self._watch.run(self._loader, module)
        except BaseException as error:
            # Remove our frames.
            trace = error.__traceback__ and error.__traceback__.tb_next
            error.__traceback__ = trace and trace.tb_next
            del trace
            raise


def _runs_modules(loader: object) -> bool:
    return hasattr(loader, "create_module") and hasattr(loader, "exec_module")


def _states() -> dict[str, str]:
    """Return the digests of the sources' states, without those that cannot be read."""
    found = {}
    for source in sources():
        if source.name in _DRAWN_FROM:
            try:
                state = source.read()
            except Exception:  # noqa: BLE001 -- the user's import would raise it
                state = None
            if state is not None:
                found[source.name] = digest(state)
    return found
