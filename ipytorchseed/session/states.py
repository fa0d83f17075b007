"""Finds the seeds and draws of recorded states, from full states in the ledger."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeGuard, TypeVar

from ipytorchseed.ledger.records import Findings, Run
from ipytorchseed.ledger.store import Ledger
from ipytorchseed.reads.written import Written, written
from ipytorchseed.rng.distance import NEAR, draws_between, is_fresh, is_of_ours, locate_state
from ipytorchseed.rng.position import Effort, Position, TooFar, within
from ipytorchseed.rng.table import recent_seeds, sources
from ipytorchseed.why.evidence import HistoryLookup

T = TypeVar("T")

# The number of runs in which to search for the run that created an input.
_LOOKED_BACK = 200

# The maximum number of draws to search in total for one explanation, which takes about 35 ms.
_DRAWS = 12_000_000

# The maximum number to search for the seed of one state, which takes about 150 ms.
_BACK = 60_000_000

# The maximum number to search if a cell may have drawn a lot, which takes about 350 ms.
_FAR = 120_000_000

# The number of draws that may be searched for each state or pair, even if the total is used up.
_NEARBY = 3_000_000


class LedgerStates:
    """A lookup of the positions of states, which caches results.

    Args:
        ledger: The ledger with the full states.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._sources = {source.name: source for source in sources()}
        self._states: dict[str, bytes | None] = {}
        self._found: dict[str, Position | None] = {}
        self._distances: dict[tuple[str, str], int | None] = {}
        self._effort = Effort(_DRAWS)
        self._latest: list[Run] | None = None

    def latest(self, run: Run) -> list[Run]:
        """Return the latest runs of the notebook of a run, newest first."""
        if self._latest is None:
            self._latest = [*self._ledger.runs(run.notebook, limit=_LOOKED_BACK, undone=False)]
        return self._latest

    def written(self, run: Run) -> Written:
        """Return the calls and imports in the text of a run's cell."""
        return written(run.source)

    def findings(self, run: Run, against: Run) -> Findings | None:
        """Return the findings of earlier experiments about two runs, or None."""
        return self._ledger.findings(run.id, against.id) if run.id and against.id else None

    def position(self, name: str, digest: str) -> Position | None:
        """Return the seed and draws of a state; None if it is not stored or not found."""
        if digest not in self._found:
            state = self._state(digest)
            self._found[digest] = None if state is None else self._locate(name, state)
        return self._found[digest]

    def draws(self, before: str, after: str) -> int | None:
        """Return the number of draws between two states; None if unknown."""
        return self._distance(before, after, self._effort)[0]

    def is_fresh(self, digest: str) -> bool | None:
        """Return whether a state is that of a freshly seeded source; None if unknown."""
        state = self._state(digest)
        return None if state is None else is_fresh(state)

    def leads(self, before: str, after: str, most: int = 0) -> bool:
        """Return whether at most ``most`` draws may lead from one state to another."""
        draws, known = self._distance(before, after, Effort(_DRAWS))  # not shared: rarely called
        if draws is not None or not known:
            return True
        states = self._state(before), self._state(after)
        if not all(each is None or is_of_ours(each) for each in states):
            return True  # a registered source, whose draws are unknown
        if most <= NEAR or None in states or is_fresh(states[1] or b"") is None:
            return False
        with suppress(TooFar), within(Effort(_BACK)):
            if locate_state(states[1] or b"").seed is not None:  # close to a seed
                return False
        far = draws_between(states[0] or b"", states[1] or b"", min(most, _FAR))
        return far is not None or most > _FAR

    def _distance(self, before: str, after: str, effort: Effort) -> tuple[int | None, bool]:
        """Return the draws between two states, and whether the search was complete."""
        if (before, after) in self._distances:
            return self._distances[before, after], True
        first, last = self._found.get(before), self._found.get(after)
        if _is_exact(first) and _is_exact(last):
            ahead = (last.draws or 0) - (first.draws or 0)
            return (ahead if first.seed == last.seed and ahead >= 0 else None), True
        states = self._state(before), self._state(after)
        if states[0] is None or states[1] is None:
            return None, False
        for allowed in (Effort(_NEARBY), effort):
            with suppress(TooFar), within(allowed):
                draws = self._distances[before, after] = draws_between(states[0], states[1])
                if draws is not None and _is_exact(first):
                    self._found[after] = Position(first.seed, (first.draws or 0) + draws)
                return draws, True
        return None, False

    def _state(self, digest: str) -> bytes | None:
        if digest not in self._states:
            self._states[digest] = self._ledger.states([digest]).get(digest)
        return self._states[digest]

    def _locate(self, name: str, state: bytes) -> Position | None:
        source = self._sources.get(name)
        for effort in (Effort(_NEARBY), self._effort):
            with suppress(TooFar), within(effort):
                return source.locate(state, recent_seeds()) if source else locate_state(state)
        return None


class EitherStates:
    """A lookup of states that a receipt or the ledger contains.

    Args:
        each: The objects to ask, in this order; None is skipped.
    """

    def __init__(self, *each: HistoryLookup | None) -> None:
        self._each = [states for states in each if states is not None]

    def latest(self, run: Run) -> Sequence[Run]:  # noqa: ARG002 -- as ``HistoryLookup``
        """Return an empty sequence: the runs of the other kernel are unknown."""
        return ()

    def written(self, run: Run) -> Written:
        """Return the calls and imports in the text of a run's cell."""
        return written(run.source)

    def findings(self, run: Run, against: Run) -> Findings | None:  # noqa: ARG002 -- as above
        """Return None: there are no experiments about runs on two machines."""
        return None

    def position(self, name: str, digest: str) -> Position | None:
        """Return the seed and draws of a state; None if unknown."""
        return self._known(lambda states: states.position(name, digest))

    def draws(self, before: str, after: str) -> int | None:
        """Return the number of draws between two states of one kernel; None if unknown."""
        return self._known(lambda states: states.draws(before, after))

    def is_fresh(self, digest: str) -> bool | None:
        """Return whether a state is that of a freshly seeded source; None if unknown."""
        return self._known(lambda states: states.is_fresh(digest))

    def leads(self, before: str, after: str, most: int = 0) -> bool:
        """Return whether at most ``most`` draws may lead from one state to another."""
        return all(states.leads(before, after, most) for states in self._each)

    def _known(self, ask: Callable[[HistoryLookup], T | None]) -> T | None:
        """Return the first answer that is not None."""
        return next((each for each in map(ask, self._each) if each is not None), None)


def _is_exact(position: Position | None) -> TypeGuard[Position]:
    return position is not None and position.seed is not None and position.draws is not None
