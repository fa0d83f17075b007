"""The cost of ``check`` and ``check --fix``, compared with one execution."""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from benchmarks.check import plain, write
from benchmarks.table import Row
from ipytorchseed.checking.fixing import fix_notebook
from ipytorchseed.checking.kernel import FreshKernel, Options
from ipytorchseed.checking.notebook import read
from ipytorchseed.checking.running import Watcher, Way, check, check_one

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ipytorchseed.checking.verdict import Verdict

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"

IMPORTS = """\
import random
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split"""
SEVERAL = (
    IMPORTS,
    "X, y = load_digits(return_X_y=True)\nrng = np.random.default_rng()",
    "train, test, train_y, test_y = train_test_split(X, y)",
    "order = random.sample(range(len(train)), 400)\nunused = random.random()",
    "noise = rng.normal(size=train[order].shape)",
    "forest = RandomForestClassifier(50).fit(train[order] + noise, train_y[order])",
    "print(forest.score(test, test_y))",
)
"""A notebook with three causes that act together."""

Measured = tuple["Verdict", float, float, float]
"""The verdict, the number of runs of a cell on average, our seconds, and nbclient's seconds."""


def measure(path: Path, way: Way) -> Measured:
    """Check or fix a notebook in one kernel at a time, and measure the cost."""
    cells = 0
    run = FreshKernel.run

    async def counted(*given: Any) -> str | None:
        nonlocal cells
        cells += 1
        return await run(*given)

    begin = time.perf_counter()
    plain(path)
    between = time.perf_counter()
    with patch.object(FreshKernel, "run", counted):
        (verdict,) = check([path], Options(prove=way is check_one), Watcher(), way)
    end = time.perf_counter()
    return verdict, cells / len(read(path).runnable), end - between, between - begin


def table(what: str, goal: float, found: Sequence[Measured]) -> Iterator[Row]:
    """Yield two rows: the median number of runs of a cell, and the median time."""
    runs = statistics.median(each[1] for each in found)
    yield Row(f"{what}, cells", runs, 1, "nbclient once", "runs", f"at most {goal} x", runs <= goal)
    ours, peer = sorted((each[2:] for each in found), key=lambda it: it[0] / it[1])[len(found) // 2]
    yield Row(what, ours, peer, "nbclient once", "s", f"at most {goal} x", ours <= goal * peer)


def rows() -> list[Row]:
    """Return the measured rows."""
    fix = partial(fix_notebook, save=False, tag=False)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["IPYTORCHSEED_DATA_DIR"] = folder
        shutil.copytree(NOTEBOOKS, Path(folder, "notebooks"))
        paths = sorted(Path(folder, "notebooks").rglob("*.ipynb"))
        checked = [measure(path, check_one) for path in paths]
        differ = [each for each in checked if each[0].reproducible is False]
        fixed = [measure(each[0].path, fix) for each in differ]
        several = measure(write(folder, SEVERAL), fix)
    return [
        *table("check, repeats", 2.3, [each for each in checked if each not in differ]),
        *table("check, differs", 4, differ),
        *table("check --fix", 7, fixed),
        *table("check --fix, three causes", 12, [several]),
    ]
