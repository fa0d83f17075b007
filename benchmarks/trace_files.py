"""The cost of traces in files: writing time, size on disk, and comparing two."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

import torch

import ipytorchseed as its
from benchmarks.table import MILLI, Row, side_by_side
from benchmarks.trace import STEPS, cnn_step, mlp_step, traced
from ipytorchseed.trace.file import Trace, TraceFile
from ipytorchseed.trace.format import Place

if TYPE_CHECKING:
    from collections.abc import Callable

MILLION = 1_000_000
OPERATIONS = 40
"""The number of operations in a step of the simulated training."""

MEGA = 1e6


def _scrambled(number: int) -> int:
    """Return a number that is as hard to compress as a digest."""
    return number * 0x9E3779B97F4A7C15 % 2**64


def to_file(step: Callable[[], None], path: Path, *, summaries: bool) -> Callable[[], None]:
    """Return a function that does steps under a trace to a file."""

    def run() -> None:
        with its.trace(path, summaries=summaries):
            for _ in range(STEPS):
                step()

    return run


def made_up(file: Trace, changed: int | None = None) -> None:
    """Record a simulated trace of a million operations.

    Args:
        file: The trace.
        changed: The step from which results differ, and from which each hundredth step has one more
            operation; None for no difference.
    """
    places = [Place("", n // 4 + 1, "", f"model.{n}") for n in range(OPERATIONS)]
    track = file.track(0)
    tensor = torch.zeros(4, 4)
    track._digest = lambda _: digest  # noqa: SLF001 -- only the digests are simulated
    step = count = 0
    while count < MILLION:
        other = 0 if changed is None or step < changed else 1 << 62
        read = [_scrambled((step << 20) + other + 1)]
        for number in [
            *range(OPERATIONS),
            *([7] if changed is not None and step % 100 == 0 else []),
        ]:
            digest = _scrambled((step << 20) + (number << 8) + other + 2)
            track.digest(tensor)
            track.add(f"aten::op_{number}", places[number], [0.5, number], read, [digest])
            read = [digest]
            count += 1
        step += 1
    file.close([])


def million() -> float:
    """Return the megabytes of a million operations in memory."""
    tracemalloc.start()
    held = Trace()
    made_up(held)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return taken / MEGA


def rows() -> list[Row]:
    """Return the measured rows."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # for small operations, more threads only add noise
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.trace"
        small = side_by_side(
            {
                "ours": to_file(mlp_step, path, summaries=False),
                "memory": traced(mlp_step),
                "summaries": to_file(mlp_step, path, summaries=True),
            },
            rounds=15,
            number=2,
        )
        torch.set_num_threads(threads)
        large = side_by_side(
            {"ours": to_file(cnn_step, path, summaries=False), "memory": traced(cnn_step)},
            rounds=5,
            number=1,
        )
        files = [Path(folder) / name for name in ("a.trace", "b.trace")]
        made_up(TraceFile(files[0]))
        made_up(TraceFile(files[1]), changed=12_000)
        size = files[0].stat().st_size / MEGA
        began = time.perf_counter()
        command = [sys.executable, "-m", "ipytorchseed", "trace", "diff", *map(str, files)]
        done = subprocess.run(command, capture_output=True, check=False)
        took = time.perf_counter() - began
        if done.returncode != 1:
            raise RuntimeError(done.stderr.decode())
    held = million()
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    small, large = ({name: MILLI * each / STEPS for name, each in times.items()}
                    for times in (small, large))  # fmt: skip
    return [
        Row("MLP step, traced to a file", small["ours"], small["memory"], "traced in memory", "ms",
            "at most 1.5 x", small["ours"] <= 1.5 * small["memory"]),
        Row("CNN step, traced to a file", large["ours"], large["memory"], "traced in memory", "ms",
            "at most 1.5 x", large["ours"] <= 1.5 * large["memory"]),
        Row("MLP step, with summaries", small["summaries"], small["memory"], "traced in memory",
            "ms", "none", met=True),
        Row("a million operations on disk", size, None, "", "MB", "under 60", size < 60),
        Row("the same in memory", held, None, "", "MB", "under 200", held < 200),
        Row("two of these compared", took, None, "", "s", "under 60", took < 60),
        Row("two of these compared, memory", memory, None, "", "MB", "under 1,000", memory < 1000),
    ]  # fmt: skip
