"""Finds the global namespace of code: the notebook's, or a module's."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from ipytorchseed.introspection import values as introspection
from ipytorchseed.patterns import lazy_pattern

# Matches names that are reserved for the interpreter.
DUNDER = lazy_pattern(r"__\w+__")


class Home(Struct, frozen=True):
    """A global namespace.

    Attributes:
        names: The dictionary of the namespace.
        module: The module's name; "" for the notebook.
        found_again: Whether the namespace can be looked up later, because it belongs to the
            notebook or to a loaded module.
        package: The package to which relative imports refer.
    """

    names: Mapping[str, Any]
    module: str
    found_again: bool = True
    package: str = ""

    def shown(self, name: str) -> str:
        """Return a name with the module's name in front, except in the notebook."""
        return f"{self.module}.{name}" if self.module else name


def home_of(names: Mapping[str, Any]) -> Home:
    """Return the namespace of a dictionary of global names."""
    name = introspection.text(names.get("__name__"))
    module = sys.modules.get(name)
    loaded = module is not None and introspection.module_names(module) is names
    package = introspection.text(names.get("__package__"))
    return Home(names, name or "?", loaded and name != "__main__", package)
