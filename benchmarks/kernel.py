"""The time that the extension adds to a cell, measured by round trips to kernels."""

from __future__ import annotations

import importlib.util
import os
import statistics
import tempfile
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import psutil
from jupyter_client.manager import KernelManager

from benchmarks.table import MILLI, Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Run = tuple[Callable[[str], float], str]

ROUNDS = 300
MANY = 10_000


@contextmanager
def kernel(
    *cells: str, data: str | None = None, cwd: str | None = None
) -> Iterator[Callable[[str], float]]:
    """Start a kernel, run cells in it, and yield a function that times a further cell.

    Args:
        cells: The cells to run first.
        data: The folder of the ledger; None for a new one.
        cwd: The working folder of the kernel.
    """
    folder = data or tempfile.mkdtemp()
    manager = KernelManager(kernel_name="python3")
    env = {**os.environ, "IPYTORCHSEED_DATA_DIR": folder, "IPYTHONDIR": folder}
    manager.start_kernel(env=env, cwd=cwd)
    client = manager.client()
    client.start_channels()

    def run(code: str) -> float:
        begin = time.perf_counter()
        reply = client.execute_interactive(
            code, timeout=300, allow_stdin=False, output_hook=lambda _: None
        )
        if reply["content"]["status"] != "ok":
            raise RuntimeError(reply["content"])
        return time.perf_counter() - begin

    try:
        client.wait_for_ready(timeout=120)
        for cell in cells:
            run(cell)
        provisioner: Any = manager.provisioner
        run.process = psutil.Process(provisioner.process.pid)  # type: ignore[attr-defined]
        yield run
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def medians(runs: dict[str, Run], rounds: int = ROUNDS) -> dict[str, float]:
    """Run cells in their kernels in turns.

    Returns:
        The median round trip of each cell in milliseconds, by name.
    """
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, (run, code) in runs.items():
            times[name].append(run(code))
    return {name: statistics.median(each) * MILLI for name, each in times.items()}


FILL = f"""
from IPython import get_ipython
from msgspec.structs import replace
from ipytorchseed.notebook import extension
session = extension.running().tracking.session
for number in range({MANY}):
    session.ledger.add(replace(session.last, cell=str(number % 50)), {{}})
"""


def rows() -> list[Row]:
    """Return the measured rows.

    Only two kernels take turns, since further ones would displace their data from the CPU's caches.
    """
    load, off = "import torch\n%load_ext ipytorchseed", "%config IPyTorchSeed.tracking = False"
    kept = f"x = 1, tracked, {MANY:,} runs kept"
    with ExitStack() as stack:
        bare = stack.enter_context(kernel("import torch"))
        flags = stack.enter_context(kernel(load, off, "%%deterministic\npass"))
        tracked = stack.enter_context(kernel(load, "x = 1"))
        full = stack.enter_context(kernel(load, "x = 1", FILL))
        found = [
            _pair("%%deterministic around pass", (flags, "%%deterministic\npass"),
                  (flags, "pass"), "without it", 0.5),
            _pair("x = 1, tracked", (tracked, "x = 1"), (bare, "x = 1"), "no extension", 1.0),
            _pair(kept, (full, "x = 1"), (bare, "x = 1"), "no extension", 1.0),
        ]  # fmt: skip
        if importlib.util.find_spec("ipyflow"):
            peer = stack.enter_context(kernel("import torch", "%load_ext ipyflow"))
            times = medians({"ours": (tracked, "x = 1"), "peer": (peer, "x = 1")})
            found.append(Row("x = 1, tracked", times["ours"], times["peer"], "ipyflow", "ms",
                             "less", times["ours"] < times["peer"]))  # fmt: skip
    return found


def _pair(name: str, ours: Run, peer: Run, against: str, most: float) -> Row:
    """Return a row for the milliseconds that we add to a cell, at most ``most``."""
    times = medians({"ours": ours, "peer": peer})
    met = times["ours"] - times["peer"] <= most
    goal = f"at most {most} ms more"
    return Row(name, times["ours"], times["peer"], against, "ms", goal, met)
