"""Finds names that were rebound and generators that appeared since the last look."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from ipytorchseed.introspection.values import is_scalar, shell_name
from ipytorchseed.rng.generators import find_generators
from ipytorchseed.rng.source import digest


class Look(Struct, frozen=True):
    """A generator in the namespace, at one moment.

    Attributes:
        type: Its type, as ``FoundGenerator.described``.
        digest: The digest of its state.
        state: Its full state.
    """

    type: str
    digest: str
    state: bytes


class NamespaceWatch:
    """Remembers the ids of the objects that names are bound to, and keeps none alive."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._bearing: dict[str, None] = {}

    def rebound(self, namespace: Mapping[str, Any]) -> list[str]:
        """Return the names that were bound to a different object since the last call.

        The names under which IPython stores cells and results are skipped. Keys that are not
        strings may be objects of the user, whose methods are not called.
        """
        before, items = self._ids, dict(namespace).items()  # other threads may add names
        self._ids = now = {name: id(value) for name, value in items if type(name) is str}
        return [
            name for name, one in now.items() if before.get(name) != one and not shell_name(name)
        ]

    def generators(self, namespace: Mapping[str, Any], suspects: Iterable[str]) -> dict[str, Look]:
        """Return the generators of a namespace, by name.

        Args:
            namespace: The user's names.
            suspects: Names that may lead to new generators: those that were rebound, and those that
                the cell uses.
        """
        present = {name: namespace[name] for name in suspects if name in namespace}
        for name in present:
            self._bearing.pop(name, None)
        present = {name: value for name, value in present.items() if not is_scalar(value)}
        if present:
            for found in find_generators(present):
                for path in (found.name, *found.others):
                    self._bearing[path.partition(".")[0].partition("[")[0]] = None
        looks: dict[str, Look] = {}
        if not self._bearing:
            return looks
        items = list(namespace.items())  # generators are named in this order
        bearing = {
            name: value for name, value in items if type(name) is str and name in self._bearing
        }
        for found in find_generators(bearing):
            state = found.read()
            looks[found.name] = Look(found.described, digest(state), state)
        return looks
