"""What a cell pays, as a front end sees it: round trips to real kernels, in turns."""

from __future__ import annotations

import importlib.util
import os
import statistics
import tempfile
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import psutil
from jupyter_client.manager import KernelManager

from benchmarks.table import MILLI, Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROUNDS = 300
MANY = 10_000


@contextmanager
def kernel(
    *cells: str, data: str | None = None, cwd: str | None = None
) -> Iterator[Callable[[str], float]]:
    """Start a kernel, run some cells, and give what runs one more and returns its round trip.

    Args:
        cells: What to run first.
        data: The folder of the ledger.
        cwd: The folder that it works in.
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
        run.process = psutil.Process(manager.provisioner.process.pid)  # type: ignore[attr-defined]
        yield run
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def medians(
    runs: dict[str, tuple[Callable[[str], float], str]], rounds: int = ROUNDS
) -> dict[str, float]:
    """Run each cell in its kernel in turns; return the median round trips in milliseconds."""
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
    """Measure."""
    load, off = "import torch\n%load_ext ipytorchseed", "%config IPyTorchSeed.tracking = False"
    with ExitStack() as stack:
        bare = stack.enter_context(kernel("import torch"))
        flags = stack.enter_context(kernel(load, off, "%%deterministic\npass"))
        tracked = stack.enter_context(kernel(load, "x = 1"))
        full = stack.enter_context(kernel(load, "x = 1", FILL))
        runs = {
            "bare": (bare, "pass"),
            "deterministic": (flags, "%%deterministic\npass"),
            "off": (flags, "pass"),
            "tracked": (tracked, "x = 1"),
            "bare x": (bare, "x = 1"),
            "full": (full, "x = 1"),
        }
        if importlib.util.find_spec("ipyflow"):
            peer = stack.enter_context(kernel("import torch", "%load_ext ipyflow"))
            runs["ipyflow"] = (peer, "x = 1")
        times = medians(runs)
    found = [
        Row("%%deterministic around pass", times["deterministic"], times["off"], "without it",
            "ms", "under 0.5 ms more", times["deterministic"] - times["off"] < 0.5),
        Row("x = 1, tracked", times["tracked"], times["bare x"], "no extension", "ms",
            "at most 1.0 ms more", times["tracked"] - times["bare x"] <= 1),
        Row(f"x = 1, tracked, {MANY:,} runs kept", times["full"], times["bare x"],
            "no extension", "ms", "at most 1.0 ms more", times["full"] - times["bare x"] <= 1),
    ]  # fmt: skip
    if "ipyflow" in times:
        found.append(
            Row("x = 1, tracked", times["tracked"], times["ipyflow"], "ipyflow", "ms", "less",
                times["tracked"] < times["ipyflow"])
        )  # fmt: skip
    return found
