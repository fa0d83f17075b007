"""Reads the recorded runs and generator states of one or two kernels."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from ipytorchseed.errors import LedgerError
from ipytorchseed.ledger.store import Ledger
from ipytorchseed.rng.table import sources
from ipytorchseed.session.states import LedgerStates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ipytorchseed.ledger.records import Run
    from ipytorchseed.rng.position import Position
    from ipytorchseed.why.case import States


class Records:
    """The runs of one kernel, as its ledger has them.

    Args:
        path: The ledger's file.
        cells: For each cell's id, the number it has in ``In[...]`` after *Run All*: runs are told
            by these, whenever they happened.

    Attributes:
        runs: All runs of these cells, the oldest first.
    """

    def __init__(self, path: Path, cells: Mapping[str, int]) -> None:
        self._ledger: Ledger | None = None
        self.runs: list[Run] = []
        with suppress(LedgerError):  # then nothing is known but the outputs
            if path.exists():
                self._ledger = Ledger.open(path, read_only=True)
                self.runs = [run for run in self._ledger.runs() if run.cell in cells][::-1]
        self._places = {run.id: place for place, run in enumerate(self.runs)}

    def __enter__(self) -> Records:  # noqa: PYI034 -- typing.Self is of Python 3.11
        return self

    def __exit__(self, *_: object) -> None:
        if self._ledger is not None:
            self._ledger.close()

    def of(self, cell: str) -> list[Run]:
        """Return the runs of a cell, the oldest first."""
        return [run for run in self.runs if run.cell == cell]

    def begins(self) -> dict[str, str]:
        """Return the state in which each source was first seen, by its name."""
        states: dict[str, str] = {}
        for run in self.runs:
            for name, digest in run.before.items():
                states.setdefault(name, digest)
        return states

    def before(self, run: Run, since: Run | None = None) -> Sequence[Run]:
        """Return the runs before one, the oldest first.

        Args:
            run: The one.
            since: The first to return; None for the kernel's first.
        """
        begin = 0 if since is None else self._places[since.id]
        return self.runs[begin : self._places[run.id]]

    @property
    def states(self) -> LedgerStates | None:
        """Where the states of this kernel stand."""
        return None if self._ledger is None else LedgerStates(self._ledger, sources())


class EitherKernel:
    """Where states stand that one of two kernels kept.

    Args:
        kernels: The records of both.
    """

    def __init__(self, *kernels: Records) -> None:
        self._each: list[States] = [
            states for kernel in kernels if (states := kernel.states) is not None
        ]

    def latest(self, run: Run) -> Sequence[Run]:  # noqa: ARG002 -- as ``States``
        """Return nothing: no run of a kernel that is gone can be told of."""
        return ()

    def position(self, name: str, digest: str) -> Position | None:
        """Return the seed and draws behind a state of the source or generator ``name``."""
        found = (states.position(name, digest) for states in self._each)
        return next((each for each in found if each is not None), None)

    def draws(self, before: str, after: str) -> int | None:
        """Count the numbers between two states of one kernel."""
        found = (states.draws(before, after) for states in self._each)
        return next((each for each in found if each is not None), None)

    def is_fresh(self, digest: str) -> bool | None:
        """Tell whether a state is one that seeding leaves; None where that cannot be told."""
        found = (states.is_fresh(digest) for states in self._each)
        return next((each for each in found if each is not None), None)

    def leads(self, before: str, after: str) -> bool:
        """Tell whether draws may lead from one state to the other: no kernel says that none do."""
        return all(states.leads(before, after) for states in self._each)
