"""Records of a receipt: the runs of a notebook, and the positions of their states."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from ipytorchseed.ledger.records import Findings, Run
from ipytorchseed.reads.written import Written, written
from ipytorchseed.rng.position import Position

# The version of the schema.
SCHEMA = 1

# The value of the field ``kind`` in the file.
KIND = "ipytorchseed receipt"

# The fields of a run, and of its outputs, that contain fingerprints. A receipt stores each
# fingerprint once, by its digest.
VALUES, SHOWN = ("reads", "writes"), ("result", "shown", "stdout", "displays")


class StatePosition(Struct, frozen=True, omit_defaults=True):
    """The position of a state in its stream.

    Attributes:
        seed: The seed of the stream; None if unknown.
        draws: How many raw numbers were drawn since seeding; None if unknown.
        fresh: Whether no number was drawn since seeding; None if unknown.
    """

    seed: int | None = None
    draws: int | None = None
    fresh: bool | None = None


class Receipt(Struct, frozen=True):
    """A run of a notebook on another machine.

    Attributes:
        notebook: The name of the notebook's file on that machine.
        runs: A run of each cell, in the order in which they happened, without private content.
        positions: The positions of states, by digest.
    """

    notebook: str
    runs: tuple[Run, ...]
    positions: Mapping[str, StatePosition]

    def latest(self, run: Run) -> Sequence[Run]:  # noqa: ARG002 -- as ``HistoryLookup``
        """Return no runs: a receipt has no runs of this kernel."""
        return ()

    def position(self, name: str, digest: str) -> Position | None:  # noqa: ARG002 -- as ``HistoryLookup``
        """Return the position of a state; None if it is not in the receipt."""
        found = self.positions.get(digest)
        return None if found is None else Position(found.seed, found.draws)

    def draws(self, before: str, after: str) -> int | None:
        """Return how many draws lead from one state to another; None if unknown."""
        first, last = (self.positions.get(digest, StatePosition()) for digest in (before, after))
        if first.draws is None or last.draws is None or first.seed is None:
            return None
        ahead = last.draws - first.draws
        return ahead if first.seed == last.seed and ahead >= 0 else None

    def written(self, run: Run) -> Written:
        """Return the calls and imports in a run's text; empty if the text is unknown."""
        return written(run.source)

    def findings(self, run: Run, against: Run) -> Findings | None:  # noqa: ARG002 -- as above
        """Return None: experiments do not compare runs of two machines."""
        return None

    def is_fresh(self, digest: str) -> bool | None:
        """Return whether nothing was drawn since seeding; None if unknown."""
        return self.positions.get(digest, StatePosition()).fresh

    def leads(self, before: str, after: str, most: int = 0) -> bool:  # noqa: ARG002 -- as above
        """Return whether draws may lead from one state to the other."""
        first, last = (self.positions.get(digest, StatePosition()) for digest in (before, after))
        known = None not in {first.seed, first.draws, last.seed, last.draws}
        return not known or self.draws(before, after) is not None


def each_text(value: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401 -- a JSON value
    """Return a JSON value with ``change`` applied to all strings, including keys."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(name): each_text(each, change) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [each_text(each, change) for each in value]
    return value


def each_value(held: Any, change: Callable[[Any], Any]) -> Any:  # noqa: ANN401 -- of any of ``VALUES``
    """Return a field of ``VALUES`` or ``SHOWN`` with ``change`` applied to each value."""
    if isinstance(held, dict):
        return {name: change(value) for name, value in held.items()}
    return tuple(map(change, held)) if isinstance(held, list | tuple) else change(held)
