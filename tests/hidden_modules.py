"""Hides executed modules until they are imported."""

from __future__ import annotations

import builtins
import contextlib
import copy
import importlib
import importlib.util
import os
import pkgutil
import sys
import warnings
from importlib.abc import Loader, MetaPathFinder
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from importlib.machinery import ModuleSpec

# Imports of users, or the first step of an optimizer, and the other packages that they import.
USERS = {
    "numpy": (),
    "numpy.fft": ("numpy",),
    "numpy.ma": ("numpy",),
    "numpy.random": ("numpy",),
    "numpy.typing": ("numpy",),
    "torch": ("numpy",),
    "torch._dynamo": ("torch", "numpy.fft", "numpy.random"),
    "pandas": ("numpy.ma", "numpy.random", "numpy.typing"),
    "scipy.stats": ("numpy.fft", "numpy.ma", "numpy.random", "numpy.typing"),
    "sklearn.linear_model": ("pandas", "scipy.stats"),
}

# The packages that are hidden.
HIDDEN = {
    "functorch",
    "joblib",
    "mpmath",
    "narwhals",
    "numpy",
    "pandas",
    "pyarrow",
    "scipy",
    "sklearn",
    "sympy",
    "threadpoolctl",
    "torch",
    "torchgen",
}

# What the extension imports on first use, of other packages.
LATER = ("rich.progress", "jinja2")

# Folders of the extension that a kernel's cells and magics use, except that which needs numpy.
EXTENSION = (
    "determinism",
    "fingerprint",
    "inspector",
    "ledger",
    "notebook",
    "observe",
    "reads",
    "receipts",
    "render",
    "rng",
    "session",
    "why",
)


class HiddenExtension(MetaPathFinder, Loader):
    """Hides modules of the extension and IPython's magics, and their imports.

    Each module is shown separately, with the modules that it imports when it is executed. Modules
    that are imported on first use stay hidden until then. Works only for packages that import
    nothing of ``HIDDEN``.
    """

    def __init__(self) -> None:
        before = {*sys.modules}
        with self._noting():
            for name in LATER:
                importlib.import_module(name)
            for name in ("IPython.core.magics", *(f"ipytorchseed.{each}" for each in EXTENSION)):
                package = importlib.import_module(name)  # all magics are loaded by `%config`
                for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
                    importlib.import_module(each.name)
        # Libraries hold those of the standard library, and use what is in them.
        self._modules = {
            name: each
            for name, each in sys.modules.items()
            if name not in before and name.partition(".")[0] not in sys.stdlib_module_names
        }
        self._imports = {
            name: [each for each in dict.fromkeys(made) if self._brings(name, *each)]
            for name, made in self._imports.items()
            if name in self._modules
        }
        self.hide()
        self._names = {name: {**vars(module)} for name, module in self._modules.items()}

    def _brings(self, importer: str, name: str, wanted: Iterable[str], level: int) -> bool:
        """Return whether an import shows a module that is hidden: most show none."""
        if level:
            package = self._modules[importer].__spec__.parent
            name = importlib.util.resolve_name("." * level + name, package)
        words = name.split(".")
        names = [".".join(words[:end]) for end in range(1, len(words) + 1)]
        names += [f"{name}.{each}" for each in wanted]
        return not self._modules.keys().isdisjoint(names)

    def hide(self) -> None:
        """Hide the modules, also those that were shown since."""
        for name, module in self._modules.items():
            package, _, own = name.rpartition(".")
            holder = self._modules.get(package) or sys.modules.get(package)
            if holder is not None and vars(holder).get(own) is module:
                delattr(holder, own)
        for name in self._modules:
            sys.modules.pop(name, None)
        self._kept = {**self._modules}

    @contextlib.contextmanager
    def _noting(self) -> Iterator[None]:
        """Record what each module imports as it is executed."""
        self._imports: dict[str, list[tuple[str, tuple[str, ...], int]]] = {}
        usual = builtins.__import__

        def note(name, names=None, local=None, wanted=(), level=0):
            if getattr((names or {}).get("__spec__"), "_initializing", False):
                made = (name, (*(wanted or ()),), level)
                self._imports.setdefault(names["__name__"], []).append(made)
            return usual(name, names, local, wanted, level)

        builtins.__import__ = note
        try:
            yield
        finally:
            builtins.__import__ = usual

    def find_spec(self, fullname: str, *_: Any) -> ModuleSpec | None:
        """Find what is out of sight; leave all else to others."""
        if fullname not in self._kept:
            return None
        spec = copy.copy(self._kept[fullname].__spec__)
        spec.loader = self
        return spec

    def create_module(self, spec: ModuleSpec) -> Any:
        """Bring a module back."""
        return self._kept.pop(spec.name)

    def exec_module(self, module: Any) -> None:
        """Import what it imports, and leave it as it was."""
        names = self._names[module.__spec__.name]
        for name, wanted, level in self._imports.get(module.__spec__.name, ()):
            __import__(name, vars(module), None, wanted, level)
        vars(module).update(names)
        if module.__name__ == "ipywidgets":  # its import registers in a kernel that is there
            module._handle_ipython()


class Brought:
    """The effects of an import.

    Attributes:
        modules: The modules of hidden packages, by name.
        inside: Those in a package that was imported before.
        filters: Filters of warnings.
        variables: Environment variables.
    """

    def __init__(self, name: str) -> None:
        names, filters, variables = {*sys.modules}, [*warnings.filters], {**os.environ}
        importlib.import_module(name)
        self.modules = {
            each: module
            for each, module in sys.modules.items()
            if each.partition(".")[0] in HIDDEN and each not in names
        }
        self.inside = [each for each in self.modules if each.rpartition(".")[0] in names]
        self.filters = [each for each in warnings.filters if each not in filters]
        self.variables = {name: os.environ[name] for name in {*os.environ} - {*variables}}

    def hide(self) -> None:
        """Hide the modules."""
        for name in self.inside:
            package, _, own = name.rpartition(".")
            vars(sys.modules[package]).pop(own, None)
        for name in self.modules:
            del sys.modules[name]
        warnings.filters[:] = [each for each in warnings.filters if each not in self.filters]
        _forget_warnings()
        for name in self.variables:
            del os.environ[name]

    def show(self) -> None:
        """Bring it back."""
        for name, module in self.modules.items():
            sys.modules.setdefault(name, module)
        for name in self.inside:
            package, _, own = name.rpartition(".")
            setattr(sys.modules[package], own, self.modules[name])
        warnings.filters[:0] = self.filters
        _forget_warnings()
        for name, value in self.variables.items():
            os.environ.setdefault(name, value)


def _forget_warnings() -> None:
    """Clear the caches of warnings, which depend on earlier filters."""
    with warnings.catch_warnings():
        pass


class HiddenLibraries(MetaPathFinder, Loader):
    """Hides imported modules until they are imported."""

    def __init__(self) -> None:
        self._kept = {name: Brought(name) for name in USERS}
        for brought in reversed(self._kept.values()):
            brought.hide()

    def renew(self) -> None:
        """Reseed the libraries' generators randomly, as each import does."""
        kept = {name: each for part in self._kept.values() for name, each in part.modules.items()}
        if random := kept.get("numpy.random"):  # some versions import it on first use
            random.get_bit_generator().state = random.MT19937().state
        kept["torch"].default_generator.seed()

    def find_spec(self, fullname: str, *_: Any) -> ModuleSpec | None:
        """Find what is out of sight; leave all else to others."""
        if self._brings(fullname) is None:
            return None
        spec = copy.copy(self._kept[self._brings(fullname)].modules[fullname].__spec__)
        spec.loader = self
        return spec

    def _brings(self, module: str) -> str | None:
        """Return the import that loads a module, if it is hidden."""
        return next((name for name, each in self._kept.items() if module in each.modules), None)

    def create_module(self, spec: ModuleSpec) -> Any:
        """Show a module, and all modules that its import loads."""
        name = self._brings(spec.name)
        found = self._kept[name].modules[spec.name]
        self._spec = found.__spec__
        self._show(name)
        return found

    def _show(self, name: str) -> None:
        if brought := self._kept.pop(name, None):
            for needed in USERS[name]:
                self._show(needed)
            brought.show()

    def exec_module(self, module: Any) -> None:
        """Leave the module unchanged, except for the mark that an import set on it."""
        module.__spec__ = self._spec
