"""The cost of an experiment of ``%why``, compared with one run of the cell."""

from __future__ import annotations

import copy
import os
import statistics
import tempfile
import time

import numpy as np
import torch

from benchmarks.table import MILLI, Row, side_by_side
from ipytorchseed.experiment.captured import CapturedState

SETUP = """
import torch
from sklearn.datasets import load_digits
digits = load_digits()
x = torch.tensor(digits.data, dtype=torch.float32)
y = torch.tensor(digits.target)
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
opt = torch.optim.Adam(model.parameters(), lr=rate)
"""

TRAIN = """
for _ in range(10):
    for batch in torch.randperm(len(x)).split(64):
        opt.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x[batch]), y[batch])
        loss.backward()
        opt.step()
value = loss.item()
"""

EXPERIMENTS = 2
"""The number of experiments for one suspect: with nothing and with the suspect restored."""


def _experiments() -> tuple[float, float]:
    """Return the seconds of one experiment, preparation included, and of the cell.

    Raises:
        RuntimeError: The cause was not proved.
    """
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output
    from traitlets.config import Config

    shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    shell.run_cell("%load_ext ipytorchseed")
    bare, tested = [], []
    for _ in range(5):
        for seed in (1, 2):
            shell.run_cell(f"rate = 0.01\n{SETUP}", store_history=True)
            shell.run_cell(f"torch.manual_seed({seed})\nstart = {seed}", store_history=True)
            begin = time.perf_counter()
            shell.run_cell(TRAIN, store_history=True)
            bare.append(time.perf_counter() - begin)
        with capture_output() as said:
            shell.run_cell("%why --no-prove --json")
            begin = time.perf_counter()
            shell.run_cell("%why --prove --json")
            tested.append((time.perf_counter() - begin) / EXPERIMENTS)
        if '"proof":"proved"' not in said.stdout.replace(" ", ""):
            raise RuntimeError(said.stdout)
    return statistics.median(tested), statistics.median(bare)


def rows() -> list[Row]:
    """Return the measured rows."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["IPYTORCHSEED_DATA_DIR"] = os.environ["IPYTHONDIR"] = folder
        one, bare = _experiments()
    values = {
        "frames": [np.ones((1000, 1250)) for _ in range(5)],
        "weights": [torch.ones(1000, 2500) for _ in range(5)],
    }
    times = side_by_side(
        {
            "ours": lambda: CapturedState(dict(values)).copy(),
            "deepcopy": lambda: copy.deepcopy(values),
        },
        rounds=10,
        number=1,
    )
    return [
        Row(
            "one experiment on a cell that trains for 10 epochs on digits",
            one * MILLI,
            bare * MILLI,
            "the cell",
            "ms",
            "at most 1.5 times",
            one <= 1.5 * bare,
        ),
        Row(
            "copies of 100 MB of arrays and tensors",
            times["ours"] * MILLI,
            times["deepcopy"] * MILLI,
            "copy.deepcopy",
            "ms",
            "at most 1.5 times",
            times["ours"] <= 1.5 * times["deepcopy"],
        ),
    ]
