"""Finds the global namespace of code: the notebook's, or a module's."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from ipytorchseed.introspection import values as introspection
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.abstract import HELD, MAX_TEXTS

# Names that are reserved for the interpreter.
DUNDER = lazy_pattern(r"__\w+__")


class Home(Struct, frozen=True):
    """A global namespace.

    Attributes:
        names: The dictionary.
        module: The module's name; "" for the notebook.
        found_again: Whether the dictionary belongs to the notebook or to a loaded module.
        package: The package for its relative imports.
    """

    names: Mapping[str, Any]
    module: str
    found_again: bool = True
    package: str = ""

    def shown(self, name: str) -> str:
        """Return the full name of a value in this namespace."""
        return f"{self.module}.{name}" if self.module else name

    def holds(self, path: str, assigned: frozenset[str]) -> bool:
        """Return whether a dotted name begins with a name that the cell has not yet set."""
        if self.module or not assigned:
            return True
        return path.partition(".")[0].removesuffix("()") not in assigned


def home_of(names: Mapping[str, Any]) -> Home:
    """Return the namespace that a dictionary of global names belongs to."""
    name = introspection.text(names.get("__name__"))
    module = sys.modules.get(name)
    loaded = module is not None and introspection.module_names(module) is names
    package = introspection.text(names.get("__package__"))
    return Home(names, name or "?", loaded and name != "__main__", package)


def fill_in(text: str, names: Mapping[str, Any]) -> list[str]:
    """Return the variants of a string, with the placeholders of ``HELD`` replaced."""
    found = [text]
    while held := HELD.search(found[0]) if found else None:
        value = names.get(held[2])
        whole = [value] if not held[1] else _contents(value)
        texts = [each for each in whole if type(each) is str]
        found = [each.replace(held[0], new) for new in texts for each in found][:MAX_TEXTS]
    return found


def _contents(value: Any) -> list[Any]:  # noqa: ANN401
    """Return the items of a container, and the keys of a dictionary."""
    if id(type(value)) not in introspection.CONTAINERS:
        return []
    keys = [*dict.keys(value)] if isinstance(value, dict) else []
    return [*introspection.items(value), *keys]


def is_plain(names: Mapping[str, Any], name: str) -> bool:
    """Return whether a name, except a dunder, holds a number or string."""
    return name in names and introspection.is_scalar(names[name]) and not DUNDER.fullmatch(name)
