"""Reads the states of all sources, and reports those that cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from ipytorchseed.errors import in_brief
from ipytorchseed.rng.source import Source, digest
from ipytorchseed.rng.table import sources
from ipytorchseed.rng.torch_random import origin


class States(Struct, frozen=True):
    """The states of all sources.

    Attributes:
        digests: The digest of each source's state.
        kept: Full states by digest.
        notes: A sentence for each source that could not be read.
    """

    digests: Mapping[str, str]
    kept: dict[str, bytes]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:  # without the full states
        return f"States(digests={self.digests!r}, notes={self.notes!r})"


def with_origins(before: States, after: States, seeds: Callable[[str], bool]) -> States:
    """Add the initial states of devices that the run started, derived from later ones.

    Args:
        before: The states when a run began.
        after: The states when it ended.
        seeds: Returns whether the run may have seeded a source.
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
    """Reads every source, and digests only states that changed since the last call."""

    def __init__(self) -> None:
        self._known: dict[str, _Known] = {}

    def read(self) -> States:
        """Read the state of every source. Nothing is drawn, started or imported."""
        digests: dict[str, str] = {}
        kept: dict[str, bytes] = {}
        notes = []
        for source in sources():
            try:
                known = self._look(source)
                if known is not None:
                    digests[source.name] = known.digest
                    kept[known.digest] = known.state
            except Exception as error:  # noqa: BLE001 -- the code of a registered source
                notes.append(f"{source.name} cannot be read: {in_brief(error)}")
        return States(digests, kept, tuple(notes))

    def _look(self, source: Source) -> _Known | None:
        state = source.read()
        if state is None:
            return None
        known = self._known.get(source.name)
        if known is None or known.state != state:
            known = self._known[source.name] = _Known(digest(state), bytes(state))
        return known


class _Known(Struct, frozen=True):
    """The last state of a source."""

    digest: str
    state: bytes
