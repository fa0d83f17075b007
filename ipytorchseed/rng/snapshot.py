"""``snapshot`` and ``restore``: the states of all sources at one moment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ipytorchseed.errors import StateError
from ipytorchseed.rng import torch_random
from ipytorchseed.rng.source import digest, put_all
from ipytorchseed.rng.table import import_lazy, sources


@dataclass(frozen=True, slots=True)  # no Struct of msgspec's leaves a field uncompared
class Snapshot:
    """The states of all sources at one moment.

    Attributes:
        states: Full state by source name. A source that had not started then, or cannot tell
            its state, is absent.
        queue: The seeds that waited for devices which had not started. They wait in this process
            only: a pickle goes without.
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
    """Make a snapshot of states that were pickled."""
    return Snapshot(MappingProxyType(states), torch_random.Queue({}))


def snapshot() -> Snapshot:
    """Keep the state of every source.

    Nothing is drawn or started, and no package imported.

    Returns:
        What ``restore`` takes. CUDA's states are in it only if CUDA has started.

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
    """Put every source back where it stood when the snapshot was taken.

    Sources that are not in the snapshot stay where they are, except devices of torch that
    started since: they are put where they would have begun.

    Args:
        snapshot: What ``snapshot()`` returned.

    Raises:
        StateError: A state does not fit its source, or ``snapshot`` is none; nothing was moved.
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
