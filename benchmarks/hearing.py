"""The slowdown of user code while the extension watches which files it opens."""

from __future__ import annotations

from benchmarks import kernel
from benchmarks.table import Row

ROUNDS = 15
SETUP = "import copy, torch\nheld = [{'a': [1, 2], 'b': (1, 2)} for _ in range(100)]"
CELLS = {
    "id(), 1,000,000 times": ("for _ in range(1_000_000): id(held)", 1.1),
    "copy.deepcopy, of 300 containers, 300 times": (
        "for _ in range(300): copy.deepcopy(held);",
        1.1,
    ),
    "open and close, 5,000 times": (
        "for _ in range(5_000): open('/dev/null').close()",
        1.5,
    ),
}
"""For each row, the cell, and the largest allowed ratio of its times."""


def rows() -> list[Row]:
    """Return the measured rows."""
    found = []
    with (
        kernel.kernel(SETUP) as bare,
        kernel.kernel(SETUP, "%load_ext ipytorchseed", "open('/dev/null').close()") as heard,
    ):
        for what, (cell, most) in CELLS.items():
            times = kernel.medians({"bare": (bare, cell), "heard": (heard, cell)}, rounds=ROUNDS)
            found.append(
                Row(what, times["heard"], times["bare"], "no extension", "ms",
                    f"at most {most} times", times["heard"] <= most * times["bare"])
            )  # fmt: skip
    return found
