"""A run in progress: the state of the kernel when it began."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from ipytorchseed.fingerprint import Budget
from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.reads.actions import may_set_state
from ipytorchseed.reads.dependencies import Dependencies
from ipytorchseed.reads.effects import Effects
from ipytorchseed.session.outputs import OutputWatch
from ipytorchseed.session.sources import States
from ipytorchseed.session.watch import Look


class Pending(Struct):
    """A run in progress: the state of the kernel when it began, without user objects.

    Attributes:
        cell: The cell's key.
        source: Its text.
        execution_count: The number in ``In[...]``.
        started: The start, in seconds since 1970.
        clock: The start, on a monotonic clock.
        states: The state of every source.
        generators: The generators in the namespace.
        settings: Flags, environment, versions and hardware.
        effects: What its code does with names.
        dependencies: The places of the values that it reads.
        confined: Whether it can change other variables only through the values that it reads.
        budget: Time for inspecting values.
        between: Sources that advanced since the end of the last run.
        outputs: What it has shown so far.
        reads: The fingerprints of the values that it reads.
        seeds: Seeds that we applied, and how.
        beside: Whether another cell began meanwhile, in another thread.
    """

    cell: str
    source: str
    execution_count: int | None
    started: float
    clock: float
    states: States
    generators: Mapping[str, Look]
    settings: Mapping[str, Any]
    effects: Effects
    dependencies: Dependencies
    confined: bool
    budget: Budget
    between: Mapping[str, tuple[str, str]]
    outputs: OutputWatch
    reads: dict[str, Fingerprint] = {}
    seeds: list[tuple[int, str]] = []
    beside: bool = False

    def may_seed(self, name: str) -> bool:
        """Return whether the run may have seeded a source, by its text and our log."""
        return bool(self.seeds) or may_set_state(self.dependencies.actions, name)


def digests_of(states: States, generators: Mapping[str, Look]) -> dict[str, str]:
    """Return the digests of sources and generators, by name."""
    return {**states.digests, **{name: look.digest for name, look in generators.items()}}
