"""Where recorded states stand in their streams, asked of the states that the ledger keeps."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ipytorchseed.rng.distance import draws_between, locate_state
from ipytorchseed.rng.table import recent_seeds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ipytorchseed.ledger.records import Run, Value
    from ipytorchseed.ledger.store import Ledger
    from ipytorchseed.rng.position import Position
    from ipytorchseed.rng.source import Source


_LOOKED_BACK = 200
"""Runs that are looked through for the one that made a value."""


class LedgerStates:
    """Answers from full states in the ledger, each located once.

    Args:
        ledger: Where the states are.
        run: The run that is asked about.
        known: The sources of this process, by whose algorithms states are placed.
    """

    def __init__(self, ledger: Ledger, run: Run, known: Sequence[Source]) -> None:
        self._ledger = ledger
        self._run = run
        self._sources = {source.name: source for source in known}
        self._found: dict[str, Position | None] = {}

    @cached_property
    def _latest(self) -> list[Run]:
        """The latest runs of the notebook, the newest first."""
        return [*self._ledger.runs(self._run.notebook, limit=_LOOKED_BACK)]

    @cached_property
    def _now(self) -> dict[str, Value]:
        """What is known of the variables of this kernel."""
        known: dict[str, Value] = {}
        for run in self._latest:
            if run.kernel == self._run.kernel:
                known = {**run.reads, **run.writes, **known}
        return known

    def makers(self, name: str, digest: str) -> list[Run]:
        """Return the runs before the asked one that left a variable so, the newest first."""
        asked = self._run.id or 0
        earlier = [run for run in self._latest if (run.id or 0) < asked and name in run.writes]
        return [run for run in earlier if run.writes[name].digest == digest]

    def last(self, name: str) -> Value | None:
        """Return what a variable of this kernel is now, as far as records tell."""
        return self._now.get(name)

    def here(self, run: Run) -> Run | None:
        """Return a run of the same cell and text that this kernel remembers by its number."""
        for each in [run, *self._latest]:
            mine = each.kernel == self._run.kernel and each.execution_count is not None
            if mine and each.cell == run.cell and each.code == run.code:
                return each
        return None

    def position(self, name: str, digest: str) -> Position | None:
        """Return the seed and draws behind a state; None where it is not kept or not known."""
        if digest not in self._found:
            state = self._ledger.states([digest]).get(digest)
            self._found[digest] = None if state is None else self._locate(name, state)
        return self._found[digest]

    def draws(self, name: str, before: str, after: str) -> int | None:
        """Count the numbers between two states of one stream."""
        first, last = self.position(name, before), self.position(name, after)
        if first is None or last is None:
            return None
        if first.draws is not None and last.draws is not None and first.seed is not None:
            ahead = last.draws - first.draws
            return ahead if first.seed == last.seed and ahead >= 0 else None
        kept = self._ledger.states([before, after])
        return draws_between(kept[before], kept[after]) if len(kept) == 2 else None  # noqa: PLR2004

    def _locate(self, name: str, state: bytes) -> Position:
        source = self._sources.get(name)
        if source is not None:
            return source.locate(state, recent_seeds())
        return locate_state(state)
