"""The overhead of observing which variables a cell reads.

Compares two kernels with the extension. In one of them, observation is off.
"""

from __future__ import annotations

import sys

from benchmarks import kernel
from benchmarks.table import MILLI, Row

FUNCTIONS = "\n".join(
    f"def f{n}(x):\n    y = x + 1\n    for i in range(3):\n        y += i if y else 3\n    return y"
    for n in range(300)
)
EPOCH = """
for x, y in zip(X.split(64), Y.split(64)):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
"""
SETUP = """
import torch
from torch import nn
from sklearn.datasets import load_digits
torch.set_num_threads(1)
X, Y = (torch.tensor(it) for it in load_digits(return_X_y=True))
X = X.float().reshape(-1, 1, 8, 8)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.head = nn.Conv2d(1, 16, 3), nn.Linear(16 * 36, 10)
    def forward(self, x):
        return self.head(self.conv(x).relu().flatten(1))
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
"""
OFF = "import ipytorchseed.session.session as _session\n_session.watch = None"

CELLS = {
    "a loop of 1,000,000 steps": ("for i in range(1_000_000): s = i * 2", 15, 1.03, 0.0),
    "an epoch of a CNN on digits": (EPOCH, 9, 1.01, 0.0),
    "300 functions defined": (FUNCTIONS, 15, 1.0, 0.010),
    "300 functions called": ("\n".join(f"f{n}(2)" for n in range(300)), 15, 1.0, 0.010),
    "a trivial cell": ("a = 1", 200, 1.0, 0.00015),
}
"""For each row: the cell, the rounds, and the largest allowed ratio and excess in seconds."""


def rows() -> list[Row]:
    """Return the measured rows; none before Python 3.12."""
    found: list[Row] = []
    if not hasattr(sys, "monitoring"):
        return found
    with (
        kernel.kernel("%load_ext ipytorchseed", SETUP, OFF) as off,
        kernel.kernel("%load_ext ipytorchseed", SETUP) as on,
    ):
        for what, (cell, rounds, most, more) in CELLS.items():
            times = kernel.medians({"off": (off, cell), "on": (on, cell)}, rounds=rounds)
            bound = f"at most {more * 1000:g} ms more" if more else f"at most {most} times"
            found.append(
                Row(what, times["on"], times["off"], "not observed", "ms", bound,
                    times["on"] <= most * times["off"] + more * MILLI)
            )  # fmt: skip
    return found
