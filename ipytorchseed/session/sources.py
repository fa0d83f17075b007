"""Reads the states of sources and generators, and finds names that were rebound."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from msgspec import Struct

from ipytorchseed.errors import in_brief
from ipytorchseed.introspection.values import is_scalar, shell_name
from ipytorchseed.rng.generators import find_generators
from ipytorchseed.rng.source import digest
from ipytorchseed.rng.table import sources
from ipytorchseed.rng.torch_random import origin


class States(Struct, frozen=True):
    """The states of all sources.

    Attributes:
        digests: The digest of each source's state, by the source's name.
        kept: The full states, by digest.
        notes: A sentence for each source that could not be read.
    """

    digests: Mapping[str, str]
    kept: dict[str, bytes]
    notes: tuple[str, ...] = ()


def with_origins(before: States, after: States, seeds: Callable[[str], bool]) -> States:
    """Add the initial states of devices that started during a run.

    They are computed from the states after the run, because a device had no state before.

    Args:
        before: The states before the run.
        after: The states after the run.
        seeds: Returns whether the run may have seeded a source. Such sources are skipped.
    """
    new = [name for name in after.digests.keys() - before.digests.keys() if not seeds(name)]
    began = {name: origin(after.kept[after.digests[name]]) for name in new}
    found = {name: (digest(state), state) for name, state in began.items() if state is not None}
    digests = {**before.digests, **{name: each[0] for name, each in found.items()}}
    return States(digests, before.kept | dict(found.values()), before.notes)


class StateWatch:
    """A reader of the states of all sources, which caches their digests."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, bytes]] = {}  # digests and states

    def read(self, only: Collection[str] = ()) -> States:
        """Return the states of all sources, without drawing or starting a device.

        Args:
            only: The names of the sources to read; empty for all.
        """
        digests: dict[str, str] = {}
        kept: dict[str, bytes] = {}
        notes = []
        for source in sources():
            if only and source.name not in only:
                continue
            try:
                state = source.read()
                if state is not None:
                    known = self._known.get(source.name)
                    if known is None or known[1] != state:
                        known = self._known[source.name] = digest(state), bytes(state)
                    digests[source.name] = known[0]
                    kept[known[0]] = known[1]
            except Exception as error:  # noqa: BLE001 -- from code of a registered source
                notes.append(f"{source.name} cannot be read: {in_brief(error)}")
        return States(digests, kept, tuple(notes))


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
    """The ``id`` of each object in the namespace, without references to it."""

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
