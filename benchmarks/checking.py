"""The time of ``--check`` for a cell that repeats, compared with one run."""

from __future__ import annotations

import statistics
import time
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import nn

from benchmarks.table import MILLI, Row
from ipytorchseed.experiment.check import Check
from ipytorchseed.experiment.repeating import RepeatedCell, Shown
from ipytorchseed.reads.cell import effects_of_cell
from ipytorchseed.reads.following import find_dependencies
from ipytorchseed.trace.places import Lines

TRAIN = """
for step in range(steps):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
"""


def training() -> dict[str, Any]:
    """Return the namespace of a notebook that trains a model."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Dropout(0.2), nn.Linear(256, 10))
    data = torch.utils.data.TensorDataset(torch.randn(1792, 64), torch.randint(0, 10, (1792,)))
    return {
        "nn": nn,
        "model": model,
        "optimizer": torch.optim.Adam(model.parameters()),
        "loader": torch.utils.data.DataLoader(data, batch_size=64, shuffle=True),
        "losses": [],
        "steps": 11,
        "__name__": "__main__",
    }


def bare() -> float:
    """Return the seconds of one run."""
    names, code = training(), compile(TRAIN, "<cell>", "exec")
    begin = time.perf_counter()
    exec(code, names)  # noqa: S102 -- a cell
    return time.perf_counter() - begin


def checked() -> float:
    """Return the seconds of one run with its check."""
    names, code = training(), compile(TRAIN, "<cell>", "exec")

    def run(around: AbstractContextManager[object]) -> Shown:
        with around:
            exec(code, names)  # noqa: S102 -- a cell
        return Shown()

    begin = time.perf_counter()
    reached = find_dependencies(effects_of_cell(TRAIN, str), names)
    cell = RepeatedCell(names, reached, run, lines=Lines("<cell>", names), source=TRAIN)
    check = Check(cell, runs=2)
    check.first(run(nullcontext()))
    found = check.finish()
    taken = time.perf_counter() - begin
    if not found.reproducible or found.operations:
        raise RuntimeError(found)
    return taken


def rows() -> list[Row]:
    """Return the measured rows."""
    bare()
    times: dict[str, list[float]] = {"bare": [], "checked": []}
    for _ in range(7):
        times["bare"].append(bare() * MILLI)
        times["checked"].append(checked() * MILLI)
    one, two = (statistics.median(each) for each in times.values())
    return [
        Row("training of 308 steps, --check", two, one, "one bare run", "ms", "at most 2.2 x",
            two <= 2.2 * one),
    ]  # fmt: skip
