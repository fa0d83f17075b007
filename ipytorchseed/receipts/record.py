"""The records of a receipt: a notebook's runs, and the positions of the states in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.ledger.records import Findings, Run
from ipytorchseed.rng.position import Position

SCHEMA = 1
"""The version of the schema."""

KIND = "ipytorchseed receipt"
"""The value of the field ``kind`` in the file."""

VALUES = "reads", "writes", "result", "shown", "stdout", "displays"
"""The fields of a run that hold values; a receipt has each value once, by its digest."""


class Stand(Struct, frozen=True, omit_defaults=True):
    """The position of a state in its stream.

    Attributes:
        seed: The seed that the stream began with, or None where it is not known.
        draws: Raw numbers drawn since, or None where they are not known.
        fresh: Whether nothing was drawn since seeding; None where that is not known.
    """

    seed: int | None = None
    draws: int | None = None
    fresh: bool | None = None


class Receipt(Struct, frozen=True):
    """A run of a notebook that happened elsewhere.

    Attributes:
        notebook: The name of the notebook's file there.
        runs: A run for each cell, in the order in which they happened, without what is private;
            ``reveal`` fills in what is the same here.
        stands: The positions of states, by digest.
    """

    notebook: str
    runs: tuple[Run, ...]
    stands: Mapping[str, Stand]

    def latest(self, run: Run) -> Sequence[Run]:  # noqa: ARG002 -- as ``HistoryLookup``
        """Return nothing: no run of a receipt is one of this kernel's."""
        return ()

    def position(self, name: str, digest: str) -> Position | None:  # noqa: ARG002 -- as ``HistoryLookup``
        """Return the seed and draws behind a state; None where the receipt does not tell."""
        stand = self.stands.get(digest)
        return None if stand is None else Position(stand.seed, stand.draws)

    def draws(self, before: str, after: str) -> int | None:
        """Count the numbers between two states; None where that is not known."""
        first, last = (self.stands.get(digest, Stand()) for digest in (before, after))
        if first.draws is None or last.draws is None or first.seed is None:
            return None
        ahead = last.draws - first.draws
        return ahead if first.seed == last.seed and ahead >= 0 else None

    def findings(self, run: Run, against: Run) -> Findings | None:  # noqa: ARG002 -- as above
        """Return nothing: no experiment compares runs of two machines."""
        return None

    def is_fresh(self, digest: str) -> bool | None:
        """Return whether nothing was drawn since seeding; None where that is not known."""
        return self.stands.get(digest, Stand()).fresh

    def leads(self, before: str, after: str, most: int = 0) -> bool:  # noqa: ARG002 -- as above
        """Return whether draws may lead from one state to the other."""
        first, last = (self.stands.get(digest, Stand()) for digest in (before, after))
        known = None not in {first.seed, first.draws, last.seed, last.draws}
        return not known or self.draws(before, after) is not None


def completed(runs: Sequence[Run]) -> list[Run]:
    """Add torch's settings to runs that imported it, from the next run of their kernel.

    Args:
        runs: In the order in which they happened.
    """
    found: list[Run] = []
    known: dict[str, dict[str, Any]] = {}
    for run in reversed(runs):
        flags = {name: each for name, each in run.settings.items() if name.startswith("torch.")}
        if flags:
            known[run.kernel] = flags
        settings = {**known.get(run.kernel, {}), **run.settings}
        found.append(run if flags else replace(run, settings=settings))
    return found[::-1]


def each_text(value: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401 -- a JSON value
    """Return a JSON value with ``change`` applied to each text in it, keys included."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(name): each_text(each, change) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [each_text(each, change) for each in value]
    return value


def each_value(held: Any, change: Callable[[Any], Any]) -> Any:  # noqa: ANN401 -- of any of ``VALUES``
    """Return a field of values with ``change`` applied to each: to one, to several, or by name."""
    if isinstance(held, dict):
        return {name: change(value) for name, value in held.items()}
    return tuple(map(change, held)) if isinstance(held, list | tuple) else change(held)
