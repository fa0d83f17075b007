"""The time that the extension adds to a cell if the namespace has huge values."""

from __future__ import annotations

import statistics
from contextlib import ExitStack

from benchmarks.kernel import kernel
from benchmarks.table import MILLI, Row

ROUNDS = 5

HELD = {
    "dict of 10 M ints": ("big = {n: n for n in range(10_000_000)}", "len(big)"),
    "list of 50 M ints": ("big = list(range(50_000_000))", "len(big)"),
    "list of 10 M strings": ("big = [str(n) for n in range(10_000_000)]", "len(big)"),
    "set of 5 M ints": ("big = set(range(5_000_000))", "len(big)"),
    "1 M small objects": (
        "class P:\n def __init__(self, n): self.n = n\nbig = [P(n) for n in range(1_000_000)]",
        "len(big)",
    ),
    "nested dict of lists": ("big = {n: [n, [n]] for n in range(500_000)}", "len(big)"),
    "50,000 tensors in a list": ("big = [torch.zeros(4) for _ in range(50_000)]", "len(big)"),
    "object array of 5 M": (
        "import numpy as np\nbig = np.array([str(n) for n in range(5_000_000)], dtype=object)",
        "len(big)",
    ),
    "pandas, 5 M objects": (
        "import pandas as pd\nbig = pd.DataFrame({0: [*map(str, range(5_000_000))]}, dtype=object)",
        "len(big)",
    ),
    "object of 1 M attributes": (
        "class P: pass\nbig = P()\nbig.__dict__.update({f'a{n}': n for n in range(1_000_000)})",
        "big.a1",
    ),
    "3,000 variables": (
        "for n in range(3_000): globals()[f'v{n}'] = [n]",
        "sum(len(each) for each in (" + ",".join(f"v{n}" for n in range(3_000)) + "))",
    ),
    "3,000 functions": (
        "exec('\\n'.join(f'def f{n}(x):\\n    return x + {n}' for n in range(3_000)))",
        "sum(each(1) for each in (" + ",".join(f"f{n}" for n in range(3_000)) + "))",
    ),
    "integer of 200 MB": ("big = 1 << 8 * 200_000_000", "big.bit_length()"),
    "tensor of 2 GB": ("big = torch.zeros(500_000_000)", "big.shape"),
}
"""For each kind of value, a cell that makes the value, and a cell that reads it."""

MADE = {
    "20,000 variables made": "for n in range(20_000): globals()[f'v{n}'] = [n]",
    "20,000 functions made": "for n in range(20_000): exec(f'def f{n}(x): return x + {n}')",
}
"""Cells that take long to be recorded, by name."""

OTHER = "len([1])"


def measure(name: str, make: str, cells: dict[str, str]) -> list[Row]:
    """Return rows for cells, run in turns with and without the extension.

    Args:
        name: The name of the rows.
        make: The cell to run first.
        cells: The cells to time, by name.
    """
    with ExitStack() as stack:
        ours = stack.enter_context(kernel("import torch\n%load_ext ipytorchseed", make))
        bare = stack.enter_context(kernel("import torch", make))
        times: dict[tuple[str, str], list[float]] = {}
        held = ours.process.memory_info().rss  # type: ignore[attr-defined]
        most = 0.0
        for _ in range(ROUNDS):
            for what, code in cells.items():
                for side, run in (("ours", ours), ("bare", bare)):
                    times.setdefault((what, side), []).append(run(code))
                most = max(most, ours.process.memory_info().rss - held)  # type: ignore[attr-defined]
    found = []
    for what in cells:
        middle = {s: statistics.median(times[what, s]) * MILLI for s in ("ours", "bare")}
        goal = 200 if what == "read" else 20
        found.append(
            Row(f"{name}: {what}", middle["ours"], middle["bare"], "no extension", "ms",
                f"at most {goal} ms more", middle["ours"] - middle["bare"] <= goal)
        )  # fmt: skip
    found.append(
        Row(f"{name}: memory", most / 2**20, None, "", "MB", "at most 64 MB", most <= 64 * 2**20)
    )
    return found


def rows() -> list[Row]:
    """Return the measured rows."""
    found = []
    for name, (make, read) in HELD.items():
        found += measure(name, make, {"read": read, "not named": OTHER})
    for name, make in MADE.items():
        found += measure(name, "pass", {"read": make})
    return found


if __name__ == "__main__":
    import sys

    from benchmarks.table import show

    for each in sys.argv[1:] or HELD:
        make, read = HELD[each]
        show(each, measure(each, make, {"read": read, "not named": OTHER}))
