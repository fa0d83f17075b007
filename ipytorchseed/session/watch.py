"""Finds names that were rebound and generators that appeared since the last look."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import compress, repeat
from operator import ne
from typing import Any, Final

from msgspec import Struct

from ipytorchseed.introspection.values import is_scalar, shell_name
from ipytorchseed.rng.generators import find_generators
from ipytorchseed.rng.source import digest

_NOWHERE: Final = object()


class Look(Struct, frozen=True):
    """A generator in the namespace, at one moment.

    Attributes:
        type: Its type, as users write it.
        digest: The digest of its state.
        state: Its full state.
        library: The package whose object holds it.
    """

    type: str
    digest: str
    state: bytes
    library: str = ""


class NamespaceWatch:
    """Remembers the ids of the objects that names are bound to, and keeps none alive."""

    def __init__(self) -> None:
        self._names: tuple[str, ...] = ()
        self._ids: tuple[int, ...] = ()
        self._count = 0
        self._newest: str | None = None
        self._bearing: dict[str, None] = {}

    def rebound(self, namespace: Mapping[str, Any]) -> list[str]:
        """Return the names that were bound to another object since the last call.

        The names under which IPython stores cells and results are skipped. It adds some with every
        cell, so there may be thousands.
        """
        added = self._added(namespace)
        if added is None:
            return self._all_again(namespace)
        ids = _ids_of(self._names, namespace)
        if id(_NOWHERE) in ids:
            return self._all_again(namespace)
        if ids == self._ids and not added:
            return []
        changed = [*compress(self._names, map(ne, ids, self._ids))]
        self._names += tuple(added)
        self._ids = ids + _ids_of(added, namespace)
        return changed + added

    def _added(self, namespace: Mapping[str, Any]) -> list[str] | None:
        """Return the names added since, in their order; None if others were deleted."""
        count, newest = len(namespace), self._newest
        added: list[str] = []
        names: Any = namespace  # a dictionary, which is ordered by insertion
        try:
            for name in reversed(names):
                if name is newest:
                    break
                added.append(name)
        except RuntimeError:  # another thread adds names
            return None
        if count != self._count + len(added):
            return None
        if added:
            self._count, self._newest = count, added[0]
        return [name for name in reversed(added) if _is_watched(name)]

    def _all_again(self, namespace: Mapping[str, Any]) -> list[str]:
        now = dict(namespace)  # a snapshot, as other threads may add names
        self._count, self._newest = len(now), next(reversed(now), None)
        bound = dict(zip(self._names, self._ids, strict=True))
        self._names = tuple(filter(_is_watched, now))
        self._ids = _ids_of(self._names, now)
        return [
            name for name, one in zip(self._names, self._ids, strict=True) if bound.get(name) != one
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
            looks[found.name] = Look(found.type, digest(state), state, found.library)
        return looks


def _is_watched(name: object) -> bool:
    """Return whether a key is a variable's name, without hashing objects of the user."""
    return type(name) is str and not shell_name(name)


def _ids_of(names: Iterable[str], namespace: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the ids of what names are bound to, without a slow Python loop."""
    return tuple(map(id, map(namespace.get, names, repeat(_NOWHERE))))
