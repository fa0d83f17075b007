"""Follows what a cell imports: draws of packages, and code of the user's modules."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

from ipytorchseed.introspection.loaders import find_after, is_imported, wrap_loader
from ipytorchseed.introspection.ownership import is_installed_file
from ipytorchseed.introspection.values import is_class, is_function, is_scalar, module_names
from ipytorchseed.reads.actions import imports_of
from ipytorchseed.reads.cell import effects_of_cell
from ipytorchseed.reads.dependencies import Dependencies, look_up
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.following import find_dependencies
from ipytorchseed.session.sources import StateWatch

# Packages that only draw from numpy's generator if code calls their functions.
_DRAW_ONLY_IF_ASKED = sys.stdlib_module_names | {
    "ipytorchseed", "jinja2", "numpy", "rich", "torch",
}  # fmt: skip

_DRAWN_FROM = frozenset({"python", "numpy", "torch.cpu"})


class ImportWatch:
    """A recorder of imports that advance random sources.

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
        self._states = StateWatch()
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
        chains = {
            name: [before.get(name), *chain(*steps), after.get(name)]
            for name, steps in self.steps.items()
        }
        return tuple(name for name, states in chains.items() if states[::2] == states[1::2])

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
        before = self._states.read(_DRAWN_FROM).digests
        began = time.perf_counter()
        try:
            loader.exec_module(module)
        finally:
            self.inside = False
            self.seconds += time.perf_counter() - began
            for name, state in self._states.read(_DRAWN_FROM).digests.items():
                if before.get(name) != state:
                    self.steps.setdefault(name, []).append((before.get(name), state))


# The estimated time for following a module's code, in seconds per character.
_SECONDS = 1e-6


Names = Mapping[str, Any]


def follow_again(
    modules: Mapping[str, str], code: Effects, names: Names, hidden: Collection[str], seconds: float
) -> tuple[Dependencies, dict[str, tuple[str, str]]]:
    """Return the dependencies of a cell after it ran, and attributes that were set.

    Args:
        modules: The files of user modules that the cell imported, by name.
        code: The effects of the cell.
        names: The user's namespace.
        hidden: Names of the shell.
        seconds: The time limit for following code.

    Returns:
        The dependencies of the cell, empty if the imports cannot have changed them; and the
        attributes of packages that the cell or the modules set, as in ``Dependencies.sets``.
    """
    ends = time.thread_time() + seconds
    found = Dependencies()
    if modules or _sets_imported(code):
        found = find_dependencies(code, names, hidden, seconds=seconds)
    sets = dict(found.sets)
    for module, path in modules.items():
        with suppress(OSError, ValueError, KeyError):
            text = Path(path).read_text(encoding="utf-8")
            left = ends - time.thread_time() - len(text) * _SECONDS
            if left > 0 and _sets_imported(code := effects_of_cell(text, str)):
                names = module_names(sys.modules[module])
                sets |= find_dependencies(code, names, hidden, seconds=left).sets
    return found, sets


def members_read(
    found: Dependencies, modules: Collection[str], names: Names
) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of functions, classes and scalars that a cell reads.

    Args:
        found: The dependencies of the cell.
        modules: Only members of these modules are included.
        names: The user's namespace.
    """
    for name, place in sorted(found.names.items()):
        if place[0] in modules and name not in found.sets:
            value = look_up(place, names)
            if is_function(value) or is_class(value) or is_scalar(value):
                yield name, value


def _sets_imported(code: Effects) -> bool:
    """Return whether code may set attributes of modules that it imports."""
    return bool(imports_of(code.actions)) and any(path.endswith("=") for path in code.paths)
