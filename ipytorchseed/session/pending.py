"""The data about a run in progress."""

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
    """The data about a run in progress, without references to user objects.

    Attributes:
        cell: The key of the cell.
        source: The text of the cell.
        execution_count: The number in ``In[...]``.
        started: The start, in seconds since 1970.
        clock: The start by ``time.perf_counter``.
        states: The states of all sources before the run.
        generators: The generators in the namespace before the run.
        settings: Flags, environment, versions and hardware.
        effects: The effects of the cell's code.
        dependencies: The dependencies of the cell.
        confined: Whether the cell can change other variables only through values that it reads, and
            these refer to no other variables.
        budget: The time budget for inspecting values.
        between: The sources that changed since the end of the last run; see ``Run``.
        outputs: The outputs so far.
        reads: The fingerprints of the values that the cell reads, before the run.
        seeds: The seeds that we applied, and how.
        beside: Whether another cell started during this one, in another thread.
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
        """Return whether the run or one of our commands may have seeded a source."""
        return bool(self.seeds) or may_set_state(self.dependencies.actions, name)


def digests_of(states: States, generators: Mapping[str, Look]) -> dict[str, str]:
    """Return the digests of sources and generators, by name."""
    return {**states.digests, **{name: look.digest for name, look in generators.items()}}
