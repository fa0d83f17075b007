"""The time of a study of seeds on two engines, compared with one process."""

from __future__ import annotations

import statistics

from benchmarks.kernel import kernel
from benchmarks.table import Row

SETUP = """
%load_ext ipytorchseed
import ipyparallel
rc = ipyparallel.Cluster(n=2, log_level=40).start_and_connect_sync()
import torch
from torch import nn
import torch.nn.functional as F
x, y = torch.randn(1024, 64), torch.randint(0, 10, (1024,))
def train(steps):
    net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 10))
    adam = torch.optim.Adam(net.parameters())
    for step in range(steps):
        picked = torch.randint(0, 1024, (64,))
        loss = F.cross_entropy(net(x[picked]), y[picked])
        adam.zero_grad()
        loss.backward()
        adam.step()
    return loss.item()
"""
ROUNDS = 3


def rows() -> list[Row]:
    """Return the measured rows."""
    times: dict[str, list[float]] = {"": [], "--engines": []}
    with kernel(SETUP) as run:
        try:
            for option in times:  # imports torch in the engines
                run(f"%%seeds 2 {option}\ntrain(10)")
            for _ in range(ROUNDS):
                for option, taken in times.items():
                    taken.append(run(f"%%seeds 16 {option}\ntrain(300)"))
        finally:
            run("rc.cluster.stop_cluster_sync()")
    one, two = (statistics.median(each) for each in times.values())
    return [
        Row("16 seeds on 2 engines", two, one, "one process", "s", "at most 0.6 x",
            two <= 0.6 * one),
    ]  # fmt: skip
