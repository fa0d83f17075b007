"""The time of a check, compared with executing the same notebook by nbclient."""

from __future__ import annotations

import asyncio
import logging
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from benchmarks.table import Row
from ipytorchseed.checking.kernel import FreshKernel, Options
from ipytorchseed.checking.notebook import read
from ipytorchseed.checking.running import Watcher, check

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS, SHORT_ROUNDS = 3, 15

COMPUTE = (
    "import torch\ntorch.set_num_threads(1)\ntorch.manual_seed(0)\nx = torch.randn(700, 700)",
    *(
        f"for _ in range(250):\n    x = torch.tanh(x @ x / 26)\nprint({number}, x.sum().item())"
        for number in range(8)
    ),
)
TRIVIAL = tuple(f"x{number} = {number}" for number in range(100))


def write(folder: str, cells: tuple[str, ...]) -> Path:
    """Write a notebook with the given cells, and return its path."""
    path = Path(folder, "measured.ipynb")
    nbformat.write(new_notebook(cells=[new_code_cell(cell) for cell in cells]), path)
    return path


def plain(path: Path) -> None:
    """Execute a notebook by nbclient."""
    node = nbformat.read(path, as_version=4)
    client = NotebookClient(node, kernel_name="python3")
    client.log.setLevel(logging.CRITICAL)
    client.execute()


class Bare(FreshKernel):
    """The kernel of a check, without the extension."""

    arguments = ()

    async def prepare(self) -> None:
        """Do nothing: there is no extension to prepare."""


def once(path: Path, kind: type[FreshKernel]) -> None:
    """Run a notebook in one kernel, like one of the runs of a check.

    Args:
        path: The notebook.
        kind: The class of the kernel.
    """
    notebook = read(path)

    async def run(folder: Path) -> None:
        kernel = kind(notebook, Options(), folder)
        try:
            await kernel.start()
            for cell in notebook.cells:
                await kernel.run(cell)
        finally:
            await kernel.stop(now=False)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder)))


def in_turns(rounds: int, **functions: Callable[[], object]) -> dict[str, float]:
    """Time functions in turns, so that noise of the machine affects all of them.

    Returns:
        The median seconds of each function, by name.
    """
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            begin = time.perf_counter()
            function()
            times[name].append(time.perf_counter() - begin)
    return {name: statistics.median(each) for name, each in times.items()}


def rows() -> list[Row]:
    """Return the measured rows."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["IPYTORCHSEED_DATA_DIR"] = folder
        path = write(folder, COMPUTE)
        long = in_turns(
            ROUNDS,
            plain=lambda: plain(path),
            two=lambda: check([path], Options(jobs=2), Watcher()),
            one=lambda: check([path], Options(), Watcher()),
        )
        path = write(folder, TRIVIAL)
        short = in_turns(
            SHORT_ROUNDS,
            bare=lambda: once(path, Bare),
            loaded=lambda: once(path, FreshKernel),
        )
    share = 1 - short["bare"] / short["loaded"]
    return [
        Row("check -j 2, computing in one thread", long["two"], long["plain"], "nbclient once",
            "s", "at most 1.3 x", long["two"] <= 1.3 * long["plain"]),
        Row("check -j 1, computing in one thread", long["one"], long["plain"], "nbclient once",
            "s", "at most 2.2 x", long["one"] <= 2.2 * long["plain"]),
        Row(f"100 trivial cells: our share {share:.0%}", short["loaded"], short["bare"],
            "without extension", "s", "share under 10%", share < 0.1),
    ]  # fmt: skip
