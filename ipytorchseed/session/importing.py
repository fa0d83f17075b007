"""Distinguishes draws by packages during their import from draws by the cell."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ipytorchseed.introspection.loaders import find_after, is_imported, wrap_loader
from ipytorchseed.introspection.ownership import is_installed_file
from ipytorchseed.rng.source import digest
from ipytorchseed.rng.table import sources

# Packages that only draw from numpy's generator if code calls their functions.
_DRAW_ONLY_IF_ASKED = sys.stdlib_module_names | {
    "ipytorchseed", "jinja2", "numpy", "rich", "torch",
}  # fmt: skip

_DRAWN_FROM = frozenset({"python", "numpy", "torch.cpu"})


class ImportWatch:
    """Records which imports advance random sources.

    This is a finder in ``sys.meta_path``, so it is called for modules that are not imported yet or
    that ``importlib.reload`` reloads. It wraps the loader of a package's module. Modules that this
    module imports are part of the same import. Draws by the user's own modules count as draws by
    the cell.

    Attributes:
        steps: For each source, the states before and after each import that advanced it.
        inside: Whether a package is being imported.
        seconds: The time for importing packages, in seconds.
        own: The files of user modules that were imported or reloaded, by module.
        may_draw: Whether an imported module may draw from numpy. This is assumed of all modules
            except torch, numpy, the standard library, and modules that our commands import.
    """

    def __init__(self) -> None:
        self.inside = False
        self.clear()

    def clear(self) -> None:
        """Delete the records of the last cell."""
        self.steps: dict[str, list[tuple[str | None, str]]] = {}
        self.own: dict[str, str] = {}
        self.seconds = 0.0
        self.may_draw = False

    def start(self) -> None:
        """Start recording."""
        self.inside = False
        is_installed_file("")  # the first call makes sysconfig import a module
        if self not in sys.meta_path:
            # Second, because a cell may insert its own finder first and later pop the first one.
            sys.meta_path.insert(1, self)

    def stop(self) -> None:
        """Stop recording."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def only(self, before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
        """Return the sources that only imports advanced.

        Args:
            before: The digest of each source's state before the cell.
            after: The digest of each source's state after the cell.
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
        """Return the spec from the other finders, with a wrapped loader."""
        if self.inside or not is_imported(name):
            return None
        spec = find_after(self, name, path, target)
        if spec is None:
            return None
        self.may_draw |= name.partition(".")[0] not in _DRAW_ONLY_IF_ASKED
        if is_installed_file(spec.origin or ""):
            wrap_loader(spec, self._run)
        elif spec.has_location and spec.origin:
            self.own[name] = spec.origin
        return spec

    def _run(self, loader: Any, module: ModuleType) -> None:  # noqa: ANN401 -- any class
        """Run a module's code with its own loader, and record its draws and its time."""
        self.inside = True
        before = _states()
        began = time.perf_counter()
        try:
            loader.exec_module(module)
        finally:
            self.inside = False
            self.seconds += time.perf_counter() - began
            for name, state in _states().items():
                if before.get(name) != state:
                    self.steps.setdefault(name, []).append((before.get(name), state))


def _states() -> dict[str, str]:
    """Return the digest of each source's state; unreadable sources are left out."""
    found = {}
    for source in sources():
        if source.name in _DRAWN_FROM:
            try:
                state = source.read()
            except Exception:  # noqa: BLE001 -- the user's import must not fail
                state = None
            if state is not None:
                found[source.name] = digest(state)
    return found
