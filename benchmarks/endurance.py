"""A kernel with 20,000 runs: the cost of a cell, the memory, the time of ``%why``."""

from __future__ import annotations

import statistics
from contextlib import ExitStack

from benchmarks.kernel import kernel
from benchmarks.table import MILLI, Row

RUNS = 20_000
BLOCK = 500

CELLS = ("x = 1", "y = [x]", "z = len(y)", "x + 1")


def rows() -> list[Row]:
    """Return the measured rows."""
    with ExitStack() as stack:
        ours = stack.enter_context(kernel("import torch\n%load_ext ipytorchseed"))
        bare = stack.enter_context(kernel("import torch"))
        times: dict[str, list[float]] = {"ours": [], "bare": []}
        memory: dict[str, list[float]] = {"ours": [], "bare": []}
        asked = []
        for number in range(RUNS):
            code = CELLS[number % len(CELLS)]
            for name, run in (("ours", ours), ("bare", bare)):
                times[name].append(run(code))
            if number in (2 * BLOCK, RUNS - 1):
                for name, run in (("ours", ours), ("bare", bare)):
                    memory[name].append(run.process.memory_info().rss / 2**20)  # type: ignore[attr-defined]
                asked.append(statistics.median(ours("%why") for _ in range(5)) * MILLI)
    more = [
        (statistics.median(times["ours"][part]) - statistics.median(times["bare"][part])) * MILLI
        for part in (slice(BLOCK, 2 * BLOCK), slice(-BLOCK, None))
    ]
    grown = {name: each[1] - each[0] for name, each in memory.items()}
    return [
        Row(f"a trivial cell, more than without us, after {RUNS:,} runs", more[1], more[0],
            f"after {BLOCK}", "ms", "at most 1 ms, and flat", more[1] <= min(1, 1.5 * more[0])),
        Row(f"memory grown in {RUNS:,} runs", grown["ours"], grown["bare"], "no extension", "MB",
            "at most 16 MB more", grown["ours"] - grown["bare"] <= 16),
        Row(f"%why after {RUNS:,} runs", asked[1], asked[0], f"after {2 * BLOCK:,}", "ms",
            "under 100 ms, and flat", asked[1] < 100),
    ]  # fmt: skip
