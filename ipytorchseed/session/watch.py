"""Names that were bound anew since the last look, and generators, without searching all again."""

from __future__ import annotations

from itertools import compress
from operator import ne
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ipytorchseed.rng.generators import find_generators
from ipytorchseed.rng.source import digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Look(Struct, frozen=True):
    """A namespace generator as it was seen.

    Attributes:
        type: As users write it.
        digest: The name of its state.
        state: Its full state.
    """

    type: str
    digest: str
    state: bytes


class NamespaceWatch:
    """Remembers the identities of what names are bound to. No object is kept alive."""

    def __init__(self) -> None:
        self._names: tuple[str, ...] = ()
        self._ids: tuple[int, ...] = ()
        self._bearing: dict[str, None] = {}

    def rebound(self, namespace: Mapping[str, Any]) -> list[str]:
        """Return the names bound to another object than when they were last asked about."""
        # IPython adds names with every cell, so there may be thousands: no line of Python for each.
        now = dict(namespace)  # at one moment, whatever other threads do
        names, ids = tuple(now), tuple(map(id, now.values()))
        known = len(self._names)
        if names[:known] == self._names:
            new = [*compress(names, map(ne, ids, self._ids)), *names[known:]]
        else:
            bound = dict(zip(self._names, self._ids, strict=True))
            new = [name for name, one in zip(names, ids, strict=True) if bound.get(name) != one]
        self._names, self._ids = names, ids
        return new

    def generators(self, namespace: Mapping[str, Any], suspects: Iterable[str]) -> dict[str, Look]:
        """Look at the generators of a namespace.

        Args:
            namespace: The user's names.
            suspects: Names that may lead to generators which were not there at the last look:
                those bound anew, and those that the cell uses.
        """
        present = {name: namespace[name] for name in suspects if name in namespace}
        for name in present:
            self._bearing.pop(name, None)
        for found in find_generators(present):
            for path in (found.name, *found.others):
                self._bearing[_first_name(path)] = None
        looks: dict[str, Look] = {}
        if not self._bearing:
            return looks
        items = list(namespace.items())  # in whose order generators are named
        bearing = {name: value for name, value in items if name in self._bearing}
        for found in find_generators(bearing):
            state = found.kind.read(found.object)
            looks[found.name] = Look(found.kind.type, digest(state), state)
        return looks


def _first_name(path: str) -> str:
    return path.partition(".")[0].partition("[")[0]
