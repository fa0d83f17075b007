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
        states: The full state by source name. A source that had not started, or whose state cannot
            be read, is absent.
        queue: The seeds queued for devices that had not started. They apply to this process only,
            so they are not pickled.
    """

    states: Mapping[str, bytes] = field(repr=False)
    queue: torch_random.Queue = field(repr=False, compare=False)

    @property
    def digests(self) -> dict[str, str]:
        """The digest of each state, 16 hex digits; equal digests mean equal states."""
        return {name: digest(state) for name, state in self.states.items()}

    def __str__(self) -> str:
        return ", ".join(f"{name} {short[:8]}" for name, short in self.digests.items())

    def __reduce__(self) -> tuple[Callable[[dict[str, bytes]], Snapshot], tuple[dict[str, bytes]]]:
        return _of_states, ({**self.states},)


def _of_states(states: dict[str, bytes]) -> Snapshot:
    """Create a snapshot from pickled states."""
    return Snapshot(MappingProxyType(states), torch_random.Queue({}))


def snapshot() -> Snapshot:
    """Return the states of all sources.

    Nothing is drawn or started, and no package imported.

    Returns:
        The argument for ``restore``. It includes CUDA's states only if CUDA has started.

    Raises:
        StateError: A source cannot be read.
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

    Sources that are not in the snapshot stay as they are. Devices of torch that started since are
    the exception: they get the state in which they would have started.

    Args:
        snapshot: The return value of ``snapshot()``.

    Raises:
        StateError: A state does not fit its source, or ``snapshot`` is not a snapshot. Nothing was
            changed.
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
