"""Which of the variables that a cell reads are one object, or share their memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from ipytorchseed.fingerprint.value import SHARED
from ipytorchseed.introspection.anatomy import module_of_class, name_of_class

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ipytorchseed.fingerprint.value import Fingerprint

_KINDS = frozenset({"array", "deque", "dict", "frame", "list", "series", "set", "tensor"})
"""Kinds of values that may be changed under one name and be changed under another."""

_VIEWS = 8
"""Views of views that are followed."""


class Places:
    """Collects variables by the object that they are, or whose memory they show."""

    def __init__(self) -> None:
        self._names: dict[int, list[str]] = {}

    def note(self, name: str, value: object) -> None:
        """Add a variable's value; the user's variables keep the objects alive."""
        self._names.setdefault(id(_owner(value)), []).append(name)

    def shared(self, looks: Mapping[str, Fingerprint]) -> Iterator[tuple[str, Fingerprint]]:
        """Yield what was seen of the variables that share, each with the names of all of them."""
        for names in self._names.values():
            alike = [name for name in names if looks[name].kind in _KINDS]
            for name in alike if len(alike) > 1 else ():
                inside = looks[name].parts.get(SHARED, "")
                told = " ".join(filter(None, (inside, *alike)))
                yield name, replace(looks[name], parts={**looks[name].parts, SHARED: told})


def _owner(value: object) -> object:
    """Return the array whose memory an array shows; any other value itself."""
    made = type(value)
    if (module_of_class(made), name_of_class(made)) != ("numpy", "ndarray"):
        return value
    for _ in range(_VIEWS):
        base = value.base  # type: ignore[attr-defined] # numpy's own array, no subclass
        if type(base) is not made:
            break
        value = base
    return value
