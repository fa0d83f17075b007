"""The ledger: the time and bytes for storing a run, and the time for finding it."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
import timeit
import tracemalloc
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.table import MICRO, MILLI, Row
from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.ledger.records import Outputs, Run
from ipytorchseed.ledger.store import Ledger
from ipytorchseed.rng.source import digest

if TYPE_CHECKING:
    from collections.abc import Iterator

MANY = 10_000
"""The number of runs in a full ledger."""

CELLS, TIMES = 50, 100
"""The cells of the notebook whose bytes are counted, and the runs of each cell."""

DAYS, RUNS_A_DAY = 250, 150
"""The working days of a year, and the runs of each day."""

SETTINGS = {f"torch.backends.flag_{number}": number % 3 == 0 for number in range(20)}


class Notebook:
    """Generates the runs of a notebook whose cells read, write and draw.

    Args:
        name: The identifier of the notebook.
        cells: The number of cells.
    """

    def __init__(self, name: str = "notebooks/train.ipynb", cells: int = CELLS) -> None:
        self.name = name
        self.cells = cells
        self.count = 0
        self.now = self.states()

    def states(self) -> dict[str, bytes]:
        """Return the next states of the sources: here, random bytes."""
        return _states()

    def next(self, started: float | None = None) -> tuple[Run, dict[str, bytes]]:
        """Return the next run, which moves 3 sources, reads 5 values and makes 3."""
        number = self.count
        self.count += 1
        cell = number % self.cells
        before, self.now = self.now, self.states()
        run = Run(
            notebook=self.name,
            kernel=f"kernel-{number // 500}",
            cell=f"cell-{cell}",
            source=f"loss_{cell} = train(model, loader, epochs={cell})\nplot(loss_{cell})\n" * 4,
            execution_count=number % 500,
            started=time.time() if started is None else started,
            seconds=0.25,
            status="ok",
            before={**_digests(before), "g": "0123456789abcdef"},
            after={**_digests(self.now), "g": "0123456789abcdef"},
            generators={"g": "torch.Generator"},
            settings=SETTINGS,
            reads={f"input_{each}": _value(cell, each) for each in range(5)},
            writes={f"made_{each}": _value(cell, each, number) for each in range(3)},
            outputs=Outputs(stdout=Fingerprint(f"{number:016x}", "text", "3 lines")),
            packages=("numpy", "torch"),
            code=f"{cell:016x}",
        )
        states = {digest(state): state for each in (before, self.now) for state in each.values()}
        return run, states


def _states() -> dict[str, bytes]:
    """Return three states that are as incompressible as states of Mersenne Twisters."""
    words = os.urandom(2496)
    spread = bytearray(4992)
    for byte in range(4):
        spread[byte::8] = words[byte::4]
    return {
        "python": os.urandom(2509),
        "numpy": os.urandom(2509),
        "torch.cpu": bytes(64) + bytes(spread),
    }


def _digests(states: dict[str, bytes]) -> dict[str, str]:
    return {name: digest(state) for name, state in states.items()}


def _value(cell: int, each: int, number: int = 0) -> Fingerprint:
    name = f"{cell:04x}{each:04x}{number:08x}"
    return Fingerprint(
        name, "tensor", f"tensor float32 [64, {cell}] cpu", parts={"dtype": "float32"}
    )


def filled(path: Path, runs: int, notebook: Notebook) -> list[float]:
    """Add runs to the ledger at ``path``; return the seconds for each run."""
    times = []
    with Ledger.open(path) as ledger:
        for _ in range(runs):
            run, states = notebook.next()
            begin = time.perf_counter()
            ledger.add(run, states)
            times.append(time.perf_counter() - begin)
    return times


def year(path: Path, days: int = DAYS) -> Iterator[int]:
    """Add a year of runs to a ledger, which is opened once a day.

    Yields:
        The bytes of the ledger's folder after each day.
    """
    notebook = Notebook()
    begin = time.time() - 365 * 86_400
    for day in range(days):
        morning = begin + day * 86_400 * 365 / days
        with Ledger.open(path) as ledger:
            ledger.clock = partial(float, morning)
            for each in range(RUNS_A_DAY):
                ledger.add(*notebook.next(morning + each * 180))
        yield folder_bytes(path)


def folder_bytes(path: Path) -> int:
    """Return the bytes of the ledger and of SQLite's files in its folder."""
    return sum(each.stat().st_size for each in path.parent.iterdir())


def rows() -> list[Row]:
    """Return the measured rows."""
    with tempfile.TemporaryDirectory() as folder:
        return [*_speed(Path(folder) / "a"), *_size(Path(folder) / "b"), _year(Path(folder) / "c")]


def _speed(folder: Path) -> list[Row]:
    path = folder / "ledger.sqlite"
    notebook = Notebook()
    early = statistics.median(filled(path, 500, notebook))
    filled(path, MANY - 500, notebook)
    late = statistics.median(filled(path, 500, notebook))
    opens = statistics.median(_open(path) for _ in range(40))
    result = [
        _row("add a run, empty ledger", early * MICRO, "us", 200),
        _row("add a run, 10,000 in it", late * MICRO, "us", 200),
        _row("open, 10,000 in it", opens * MILLI, "ms", 5),
    ]
    with Ledger.open(path) as ledger:
        name, kernel = notebook.name, "kernel-7"
        lookups = {
            "find In[N] of this kernel": lambda: ledger.find(name, 250, kernel),
            "find In[N] of any kernel": lambda: ledger.find(name, 250),
            "find In[N] that is none": lambda: ledger.find(name, 9999, kernel),
            "the last two runs of a cell": lambda: [*ledger.runs(name, "cell-7", limit=2)],
        }
        for what, look in lookups.items():
            seconds = statistics.median(timeit.repeat(look, number=10, repeat=20)) / 10
            result.append(_row(what, seconds * MILLI, "ms", 1))
        begin = time.perf_counter()
        count = sum(1 for _ in ledger.runs_between(name, 1000, 2000))
        seconds = (time.perf_counter() - begin) / count
        result.append(_row("read a run, of 1,000 in turn", seconds * MICRO, "us", 200))
        result.append(_row("memory to read 10,000 in turn", _peak(ledger) / 1e6, "MB", 8))
    return result


def _open(path: Path) -> float:
    """Return the seconds for opening the ledger, without closing it."""
    begin = time.perf_counter()
    ledger = Ledger.open(path)
    seconds = time.perf_counter() - begin
    ledger.close()
    return seconds


def _peak(ledger: Ledger) -> int:
    tracemalloc.start()
    try:
        for _ in ledger.runs():
            pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _size(folder: Path) -> list[Row]:
    path = folder / "ledger.sqlite"
    filled(path, CELLS * TIMES, Notebook())
    total = folder_bytes(path)
    with Ledger.open(path) as ledger:
        ledger.limits = ledger.limits.__class__(states_days=0)
        ledger.clock = lambda: time.time() + 7200
        ledger.tidy()
    without = folder_bytes(path)
    runs = CELLS * TIMES
    return [
        _row("a run, three sources moved", total / runs, "B", 10_000),
        _row("a run, its states pruned", without / runs, "B", 1_500),
    ]


def _year(folder: Path) -> Row:
    return _row("a year of daily work", max(year(folder / "ledger.sqlite")) / 1e6, "MB", 200)


def _row(what: str, ours: float, unit: str, most: float) -> Row:
    return Row(what, ours, None, "", unit, f"at most {most:,} {unit}", ours <= most)
