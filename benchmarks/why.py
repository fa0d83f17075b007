"""``%why`` with a large ledger: the time and the memory of an answer."""

from __future__ import annotations

import random
import statistics
import tempfile
import timeit
import tracemalloc
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from benchmarks.ledger import MANY, Notebook
from benchmarks.table import MILLI, Row
from ipytorchseed.ledger.store import Ledger
from ipytorchseed.reads.cell import effects_of_cell
from ipytorchseed.rng.table import seed, sources
from ipytorchseed.session.asking import why

GOAL = 100  # ms
FEW = 500


class Drawing(Notebook):
    """A notebook whose cells draw from three sources that were seeded once."""

    def states(self) -> dict[str, bytes]:
        """Draw from each source, and return the states of all sources."""
        random.random()
        np.random.rand(10)
        torch.rand(640)
        return {each.name: state for each in sources() if (state := each.read()) is not None}


def rows() -> list[Row]:
    """Return the measured rows."""
    few, many = (_asked(count) for count in (FEW, MANY))
    goal = f"under {GOAL} ms"
    found = [
        Row(f"%why, {MANY:,} runs: {what}", many[what], few[what], f"{FEW} runs", "ms", goal,
            many[what] < GOAL)
        for what in few if what != "memory"
    ]  # fmt: skip
    return [
        *found,
        Row(f"%why, {MANY:,} runs: memory at most", many["memory"], few["memory"], f"{FEW} runs",
            "MB", "does not grow", many["memory"] < 1.5 * few["memory"]),
    ]  # fmt: skip


def _asked(count: int) -> dict[str, float]:
    """Fill a ledger, and time ``%why`` for its last run.

    Args:
        count: The number of runs in the ledger.

    Returns:
        Milliseconds by the run that the last run is compared with, and megabytes as ``memory``.
    """
    with tempfile.TemporaryDirectory() as folder, Ledger.open(Path(folder, "a.sqlite")) as ledger:
        seed(42)
        notebook = Drawing()
        for _ in range(count):
            ledger.add(*notebook.next())
        last = next(iter(ledger.runs(notebook.name)))
        session: Any = SimpleNamespace(
            ledger=ledger,
            notebook=notebook.name,
            kernel=last.kernel,
            effects_of=lambda source: effects_of_cell(source, str),
        )
        same = [*ledger.runs(notebook.name, last.cell, limit=count)]
        asked = {"the cell's run before": same[1], "the cell's first run": same[-1]}
        times = {
            what: statistics.median(
                timeit.repeat(partial(why, session, last, run), number=1, repeat=11)
            ) * MILLI
            for what, run in asked.items()
        }  # fmt: skip
        tracemalloc.start()
        why(session, last, same[-1])
        times["memory"] = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
    return times
