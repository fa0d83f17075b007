"""The states of all sources at one moment; one that cannot be read does not hide the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from ipytorchseed.rng.source import digest
from ipytorchseed.rng.table import sources

if TYPE_CHECKING:
    from collections.abc import Mapping


class States(Struct, frozen=True):
    """What the sources told.

    Attributes:
        digests: The name of each source's state.
        kept: Full states by digest.
        notes: Sources that could not be read, in words.
    """

    digests: Mapping[str, str]
    kept: dict[str, bytes]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:  # without the full states
        return f"States(digests={self.digests!r}, notes={self.notes!r})"


def read_states() -> States:
    """Look at every source. Nothing is drawn, imported or started."""
    digests: dict[str, str] = {}
    kept: dict[str, bytes] = {}
    notes = []
    for source in sources():
        try:
            state = source.read()
            if state is not None:
                digests[source.name] = digest(state)
                kept[digests[source.name]] = bytes(state)
        except Exception as error:  # noqa: BLE001 -- somebody else's code, registered by the user
            notes.append(f"{source.name} cannot be read: {type(error).__name__}: {error}")
    return States(digests, kept, tuple(notes))
