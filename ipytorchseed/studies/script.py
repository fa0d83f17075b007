"""A study of a function, from a script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ipytorchseed.session.calling import NAME, SHELLS, called_by_name
from ipytorchseed.session.repeating import Shown
from ipytorchseed.studies.body import Body
from ipytorchseed.studies.record import Record, choose_seeds
from ipytorchseed.studies.statistics import scipy_stats
from ipytorchseed.studies.study import Study

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager


def seeds(function: Callable[[], object], count: int = 8, *, start: int = 0) -> Study:
    """Run a function under several seeds, each time on copies of what it reads.

    Before each run every source is seeded; afterwards sources, flags, the environment and what the
    function reads are as they were.

    Args:
        function: Takes no argument; returns a number, or a dictionary with numbers in it.
        count: How many seeds, 2 or more.
        start: The first of them.

    Raises:
        SeedError: A seed is none, or there are fewer than 2.
        LookupFailure: scipy is not installed.
        ReplayError: A value that the function reads cannot be copied; nothing was run.
    """
    chosen = choose_seeds(count, start)
    scipy_stats()

    with called_by_name(function) as names:

        def run(around: AbstractContextManager[object]) -> Shown:
            try:
                with around:
                    return Shown(result=names[NAME]())
            except Exception as error:  # noqa: BLE001 -- whatever the function raises is told
                return Shown(error=error.with_traceback(None))  # whose frames hold the copies

        body = Body(f"{NAME}()", namespace=names, run=run, hidden=SHELLS)
        outcomes = [body.run(seed) for seed in chosen]
    return Study(Record.of(outcomes))
