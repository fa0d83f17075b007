"""Seeds a library when it is imported, since its import takes seconds."""

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
    """The source of a library that was seeded before its import.

    It is a finder in ``sys.meta_path`` from the seeding until the import. When the import ends, it
    seeds the library, and sets the state that was written to the source since.

    Args:
        module: The module whose import it waits for.
        name: The name of its source.
        seeded: Returns the state of the source after seeding.
        put: Seeds the library, and then sets the state of the source.
        locate: As in ``Source``.
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
        """The source, if it waits to be seeded."""
        return (self._source,) if self in sys.meta_path else ()

    def can_wait(self) -> bool:
        """Return whether the module can still be imported."""
        return self._module not in sys.modules and PathFinder.find_spec(self._module) is not None

    def seed(self, value: int) -> None:
        """Seed the library once it is imported."""
        self._seed, self._state = value, self._seeded(value)
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)  # before other finders, since it calls them

    def _write(self, state: bytes) -> None:
        self._state = state

    def cancel(self) -> bool:
        """Stop waiting; return whether it waited."""
        waited = self in sys.meta_path
        if waited:
            sys.meta_path.remove(self)
        return waited

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec that the finders after this one find, with our loader."""
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
        except Exception as error:  # noqa: BLE001 -- it would reach the user's import
            warnings.warn(f"{self._module} could not be seeded: {in_brief(error)}", stacklevel=2)
