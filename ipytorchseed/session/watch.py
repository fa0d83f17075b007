"""Finds names that were rebound since the last cell, and generators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from ipytorchseed.introspection.values import is_scalar, shell_name
from ipytorchseed.rng.generators import find_generators
from ipytorchseed.rng.source import digest


class Look(Struct, frozen=True):
    """The state of a generator in the namespace at one moment.

    Attributes:
        type: The type, as in ``FoundGenerator.described``.
        digest: The digest of the state.
        state: The full state.
    """

    type: str
    digest: str
    state: bytes


class NamespaceWatch:
    """Stores the ``id`` of each object in the namespace, without keeping it alive."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._bearing: dict[str, None] = {}

    def rebound(self, namespace: Mapping[str, Any]) -> list[str]:
        """Return the names that were bound to another object since the last call.

        Names that IPython assigns to cells and results are skipped. Keys that are not strings are
        skipped too, because comparing them may run user code.
        """
        before, items = self._ids, dict(namespace).items()  # other threads may add names
        self._ids = now = {name: id(value) for name, value in items if type(name) is str}
        return [
            name for name, one in now.items() if before.get(name) != one and not shell_name(name)
        ]

    def generators(self, namespace: Mapping[str, Any], suspects: Iterable[str]) -> dict[str, Look]:
        """Return the generators of a namespace, by name.

        Args:
            namespace: The user's namespace.
            suspects: Names whose values may contain new generators: names that were rebound, and
                names that the cell uses.
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
