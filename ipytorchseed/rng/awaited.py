"""Seeds a library when the user imports it, because importing it takes seconds."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from ipytorchseed.errors import in_brief
from ipytorchseed.introspection.loaders import find_after, wrap_loader
from ipytorchseed.rng.source import Locate, Source


class Awaited:
    """Seeds a library at its import, and is its source until then.

    It is added to ``sys.meta_path`` as a finder by ``seed``, and removed by the import. After the
    import, it seeds the library. If a state was written to the source in the meantime, it also sets
    that state.

    Args:
        module: The module whose import is awaited.
        name: The name of the source.
        seeded: Returns the state that the source has after seeding with an integer.
        put: Seeds the library, and then sets the state of the source.
        locate: See ``Source``.
    """

    def __init__(
        self,
        module: str,
        name: str,
        seeded: Callable[[int], bytes],
        put: Callable[[int, bytes], object],
        locate: Locate,
    ) -> None:
        self._module = module
        self._seeded = seeded
        self._put = put
        self._source = Source(name, self.seed, lambda: self._state, self._write, locate)
        self._seed = 0
        self._state = b""

    @property
    def sources(self) -> tuple[Source, ...]:
        """The source, if the library will be seeded at its import; else nothing."""
        return (self._source,) if self in sys.meta_path else ()

    def can_wait(self) -> bool:
        """Return whether the module is installed and was not imported yet."""
        return self._module not in sys.modules and PathFinder.find_spec(self._module) is not None

    def seed(self, value: int) -> None:
        """Seed the library once it is imported."""
        self._seed, self._state = value, self._seeded(value)
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)  # first, because `find_spec` calls the other finders

    def _write(self, state: bytes) -> None:
        self._state = state

    def cancel(self) -> bool:
        """Do not seed the library at its import; return whether that was planned."""
        waited = self in sys.meta_path
        if waited:
            sys.meta_path.remove(self)
        return waited

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec from other finders, with a loader that seeds the module."""
        if name != self._module:
            return None
        spec = find_after(self, name, path, target)
        if spec is not None:
            wrap_loader(spec, self._run)
        return spec

    def _run(self, loader: Any, module: ModuleType) -> None:
        loader.exec_module(module)
        self.cancel()
        try:
            self._put(self._seed, self._state)
        except Exception as error:  # noqa: BLE001 -- the user's import must not fail
            warnings.warn(f"{self._module} could not be seeded: {in_brief(error)}", stacklevel=2)
