"""``snapshot`` and ``restore``: the states of all sources at one moment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ipytorchseed.errors import StateError
from ipytorchseed.rng import torch_random
from ipytorchseed.rng.source import digest, put_all
from ipytorchseed.rng.table import import_lazy, sources


@dataclass(frozen=True, slots=True)  # a Struct of msgspec compares all fields
class Snapshot:
    """The states of all sources at one moment.

    Attributes:
        states: The full state of each source, by name. Sources that had not started, or whose state
            cannot be read, are missing.
        queue: The seeds queued for devices that had not started. They are only valid in this
            process, so they are not pickled.
    """

    states: Mapping[str, bytes] = field(repr=False)
    queue: torch_random.Queue = field(repr=False, compare=False)

    @property
    def digests(self) -> dict[str, str]:
        """The digest of each state: 16 hex digits, equal for equal states."""
        return {name: digest(state) for name, state in self.states.items()}

    def __str__(self) -> str:
        return ", ".join(f"{name} {short[:8]}" for name, short in self.digests.items())

    def __reduce__(self) -> tuple[Callable[[dict[str, bytes]], Snapshot], tuple[dict[str, bytes]]]:
        return _of_states, ({**self.states},)


def _of_states(states: dict[str, bytes]) -> Snapshot:
    """Create a snapshot from pickled states."""
    return Snapshot(MappingProxyType(states), torch_random.Queue({}))


def snapshot() -> Snapshot:
    """Return the states of all sources, to restore them later.

    No numbers are drawn, no device is started, and no package is imported.

    Returns:
        A snapshot for ``restore``. It includes the states of GPUs only if CUDA has started.

    Raises:
        StateError: Reading a source failed.
    """
    import_lazy()
    states = {}
    for source in sources():
        state = source.state()
        if state is not None:
            states[source.name] = state
    return Snapshot(MappingProxyType(states), torch_random.Queue.read())


def restore(snapshot: Snapshot) -> None:
    """Restore the states of a snapshot.

    Sources that are not in the snapshot do not change, except GPUs that started after the snapshot:
    if a seed was queued for them, they are seeded with it again.

    Args:
        snapshot: The return value of ``snapshot()``.

    Raises:
        StateError: A source rejects its state, a source no longer exists, or ``snapshot`` is not a
            snapshot. Nothing was changed.
    """
    if not isinstance(snapshot, Snapshot):
        got = type(snapshot).__name__  # type: ignore[unreachable]  # types are not always checked
        raise StateError(f"restore takes what its.snapshot() returned, not {got}")
    import_lazy()
    present = {source.name: source for source in sources()}
    gone = [name for name in snapshot.states if name not in present]
    if gone:
        msg = f"the snapshot holds {', '.join(gone)}, which this process does not have (yet)"
        raise StateError(msg)
    put_all((present[name], state) for name, state in snapshot.states.items())
    snapshot.queue.write()
