"""A study of a function, from a script."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ipytorchseed.session.repeating import Shown
from ipytorchseed.studies.body import Body
from ipytorchseed.studies.record import Record, choose_seeds
from ipytorchseed.studies.statistics import scipy_stats
from ipytorchseed.studies.study import Study

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

_NAME = "_function_under_study"
"""Where the function stands among the names that it looks up, for the time of a study."""

_SHELLS = frozenset({"exit", "get_ipython", "open", "quit"})
"""What IPython puts into a notebook's namespace; a copy of it would be one of the whole shell."""


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

    names = getattr(function, "__globals__", None) or vars(sys.modules["__main__"])

    def run(around: AbstractContextManager[object]) -> Shown:
        try:
            with around:
                return Shown(result=names[_NAME]())  # of a closure, a copy stands here in each run
        except Exception as error:  # noqa: BLE001 -- whatever the function raises is told
            return Shown(error=error.with_traceback(None))  # whose frames hold the copies

    names[_NAME] = function
    try:
        body = Body(f"{_NAME}()", namespace=names, run=run, hidden=_SHELLS)
        outcomes = [body.run(seed) for seed in chosen]
    finally:
        del names[_NAME]
    return Study(Record.of(outcomes))
