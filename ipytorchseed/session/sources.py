"""Reads the states of all sources, and reports sources that cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from ipytorchseed.errors import in_brief
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
    began = {}
    for name in after.digests.keys() - before.digests.keys():
        state = origin(after.kept[after.digests[name]])
        if state is not None and not seeds(name):
            began[name] = state
    digests = {name: digest(state) for name, state in began.items()}
    kept = {digests[name]: state for name, state in began.items()}
    return States({**before.digests, **digests}, before.kept | kept, before.notes)


class StateWatch:
    """Reads the states of all sources, and caches their digests."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, bytes]] = {}  # digests and states

    def read(self) -> States:
        """Return the states of all sources, without drawing or starting a device."""
        digests: dict[str, str] = {}
        kept: dict[str, bytes] = {}
        notes = []
        for source in sources():
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
