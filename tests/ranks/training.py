"""A small training in several ranks, with one mistake planted in one of them.

As a program it launches its ranks as torchrun does, except that they are forks of it, so that torch
is imported once.

Plays every case in turn, each with its own folder, and writes down what was expected.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.launcher.api import LaunchConfig, elastic_launch
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

import ipytorchseed as its

STEPS = 9


def net(*, norm=False, drop=0.0):
    """Make a model of a few layers."""
    layers = [nn.Linear(4, 8), nn.BatchNorm1d(8) if norm else nn.ReLU(), nn.Dropout(drop)]
    return nn.Sequential(*layers, nn.Linear(8, 1))


def evaluate():
    """Look at data in one rank only, as for a log."""
    for _ in DataLoader(TensorDataset(torch.zeros(2, 1))):
        pass  # the loader's base seed


def both():
    """Draw on two lines."""
    torch.rand(1)
    torch.randn(4)


# What rank `k` does before step `s` and the others do not; the second part names it.
EXTRA = {
    "loader": (evaluate, "torch.cpu", "a DataLoader's base seed"),
    "rand": (lambda: torch.rand(1), "torch.cpu", "torch.rand"),
    "randn_": (lambda: torch.empty(3).normal_(), "torch.cpu", "torch.Tensor.normal_"),
    "randperm": (lambda: torch.randperm(10), "torch.cpu", "torch.randperm"),
    "init": (lambda: nn.Linear(2, 2), "torch.cpu", "torch.nn.init"),
    "both": (both, "torch.cpu", "torch.rand"),
    "many": (lambda: torch.rand(100_000), "torch.cpu", "torch.rand"),
    "python": (lambda: [random.random()], "python", "random.random"),
    "choice": (lambda: random.sample(range(50), 3), "python", "random.sample"),
    "numpy": (lambda: np.random.rand(5), "numpy", "numpy.random.rand"),
    "shuffle": (lambda: np.random.shuffle([1, 2, 3]), "numpy", "numpy.random.shuffle"),
    "seeds": (lambda: torch.manual_seed(7), "torch.cpu", "torch.manual_seed"),
    "its": (lambda: its.seed(7), "python", "ipytorchseed.seed"),
}
LINES = {
    name: what[0].__code__.co_firstlineno + (name in {"loader", "both"}) * 2
    for name, what in EXTRA.items()
}


def train(  # noqa: C901, PLR0913 -- what can be planted
    folder,
    rank,
    *,
    extra=None,
    at=4,
    who=(),
    norm=False,
    drop=0.0,
    by_rank=False,
    replica=True,
    average=True,
    prepare=None,
    every=1,
    buffers=True,
    order=None,
):
    """Train; what is planted happens in the ranks ``who`` at step ``at``."""
    its.seed(42, rank=by_rank == "before")
    model = net(norm=norm, drop=drop)
    odd = rank in who
    if prepare is not None and odd:
        prepare(model)
    if replica:
        model = DistributedDataParallel(model, broadcast_buffers=buffers)
    if by_rank == "after":
        its.seed(42, rank=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    made = torch.Generator().manual_seed(1)
    data = TensorDataset(torch.randn(80, 4, generator=made), torch.randn(80, 1, generator=made))
    part = {"num_replicas": 4, "rank": 0} if order == "same" else {}
    sampler = DistributedSampler(data, seed=5 if order == "seed" and odd else 0, **part)
    loader = DataLoader(data, batch_size=4, sampler=sampler, generator=torch.Generator())
    named = {} if order is None else {"loader": loader}
    step = 0
    with its.ranks.watch(model, every=every, folder=folder, **named):
        for epoch in range(3):
            if not (order == "epoch" and odd and epoch):
                sampler.set_epoch(epoch)
            for x, y in loader:
                step += 1
                if step > STEPS:
                    break
                if odd and step == at and extra is not None:
                    extra()
                optimizer.zero_grad()
                loss = (model(x) - y).square().mean()
                loss.backward()
                if not replica and average and not (odd and average == "not all" and step >= at):
                    for each in model.parameters():
                        dist.all_reduce(each.grad)
                        each.grad /= dist.get_world_size()
                elif average == "not all":
                    for each in model.parameters():
                        dist.all_reduce(each.grad.clone())
                optimizer.step()


def nudge(model):
    """Make a model another, as where its weights were not broadcast."""
    with torch.no_grad():
        model[3].weight.add_(1e-3)


def shift(model):
    """Make a buffer another."""
    model[1].running_mean.add_(1.0)


def flag():
    """Switch a setting."""
    torch.set_float32_matmul_precision("medium")


CASES = {
    **{
        f"{name} in rank {rank} at {at}": {
            "run": {"extra": name, "at": at, "who": [rank], "every": 9 if at == 7 else 1},
            "finding": {"kind": "source", "name": EXTRA[name][1], "step": at, "ranks": [rank]},
            "by": EXTRA[name][2],
            "line": LINES[name],
        }
        for name, rank, at in [
            ("loader", 0, 7),
            ("rand", 2, 4),
            ("rand", 0, 1),
            ("randn_", 3, 9),
            ("randperm", 1, 5),
            ("init", 0, 3),
            ("many", 2, 6),
            ("both", 1, 8),
            ("python", 1, 2),
            ("choice", 3, 8),
            ("numpy", 0, 4),
            ("shuffle", 2, 3),
            ("seeds", 1, 6),
            ("its", 3, 5),
            ("rand", 3, 7),
        ]
    },
    "a draw where the model drops": {
        "run": {"extra": "rand", "at": 3, "who": [1], "drop": 0.5},
        "finding": {"kind": "source", "name": "torch.cpu", "step": 3, "ranks": [1]},
        "by": "torch.rand",
        "line": LINES["rand"],
    },
    "and where it drops, parameters part": {
        "run": {"extra": "loader", "at": 7, "who": [0], "drop": 0.5, "replica": False,
                "average": False, "order": "same"},
        "finding": {"kind": "source", "name": "torch.cpu", "step": 7, "ranks": [0]},
        "by": "a DataLoader's base seed",
        "line": LINES["loader"],
        "then": {"kind": "parameters", "name": "0.weight", "step": 7},
    },
    "weights that are not broadcast": {
        "run": {"prepare": "nudge", "who": [2], "replica": False},
        "finding": {"kind": "parameters", "name": "3.weight", "step": 0, "ranks": [2]},
    },
    "weights from other seeds": {
        "run": {"by_rank": "before", "replica": False},
        "finding": {"kind": "parameters", "name": "0.weight", "step": 0, "ranks": [0, 1, 2, 3]},
    },
    "a buffer that is not broadcast": {
        "run": {"prepare": "shift", "who": [1], "replica": False, "norm": True},
        "finding": {"kind": "buffers", "name": "1.running_mean", "step": 0, "ranks": [1]},
    },
    "buffers that are not synchronised": {
        "run": {"norm": True, "replica": False},
        "finding": {"kind": "buffers", "name": "1.running_mean", "step": 1},
    },
    "buffers that a replica does not synchronise": {
        "run": {"norm": True, "buffers": False},
        "finding": {"kind": "buffers", "name": "1.running_mean", "step": 1},
    },
    "gradients of one rank not averaged": {
        "run": {"replica": False, "average": "not all", "who": [3], "at": 5},
        "finding": {"kind": "parameters", "name": "0.weight", "step": 5, "ranks": [3]},
    },
    "gradients not averaged": {
        "run": {"replica": False, "average": False},
        "finding": {"kind": "parameters", "name": "0.weight", "step": 1},
    },
    "the same, seen every four steps": {
        "run": {"replica": False, "average": "not all", "who": [3], "at": 6, "every": 4},
        "finding": {"kind": "parameters", "name": "0.weight", "step": 8, "after": 4, "ranks": [3]},
    },
    "a draw, with parameters seen every four steps": {
        "run": {"extra": "rand", "who": [2], "at": 6, "every": 4},
        "finding": {"kind": "source", "name": "torch.cpu", "step": 6, "ranks": [2]},
        "by": "torch.rand",
        "line": LINES["rand"],
    },
    "equal masks": {
        "run": {"drop": 0.5},
        "expect": {"torch.cpu": "distinct"},
        "finding": {"kind": "source", "name": "torch.cpu", "ranks": [0, 1, 2, 3]},
    },
    "equal numbers in python": {
        "run": {},
        "expect": {"python": "distinct"},
        "finding": {"kind": "source", "name": "python", "ranks": [0, 1, 2, 3]},
    },
    "distinct where the same is expected": {
        "run": {"by_rank": "before"},
        "expect": {"numpy": "same"},
        "finding": {"kind": "source", "name": "numpy", "step": 0, "ranks": [0, 1, 2, 3]},
    },
    "one rank seeded otherwise": {
        "run": {"prepare": "reseed", "who": [2]},
        "finding": {"kind": "source", "name": "python", "step": 0, "ranks": [2]},
    },
    "a flag in one rank": {
        "run": {"extra": "flag", "who": [1], "at": 4},
        "finding": {"kind": "setting", "name": "torch.float32_matmul_precision", "step": 4,
                    "ranks": [1]},
    },
    "another order of data: the sampler's seed": {
        "run": {"order": "seed", "who": [3]},
        "finding": {"kind": "loader", "name": "sampler.seed", "step": 0, "ranks": [3]},
    },
    "another order of data: an epoch not set": {
        "run": {"order": "epoch", "who": [2]},
        "finding": {"kind": "loader", "name": "sampler.epoch", "step": 6, "ranks": [2]},
    },
    # Clean ones
    "clean: plain": {"run": {}},
    "clean: one draw in all": {"run": {"extra": "rand", "who": [0, 1, 2, 3]}},
    "clean: a loader in all": {"run": {"extra": "loader", "who": [0, 1, 2, 3]}},
    "clean: masks of each rank's own": {
        "run": {"drop": 0.5, "by_rank": "after"},
        "expect": {"torch.cpu": "distinct"},
    },
    "clean: seeds by rank": {"run": {"by_rank": "before"}},
    "clean: buffers of rank 0": {"run": {"norm": True}},
    "clean: masks alike, nothing expected": {"run": {"drop": 0.5}},
    "clean: averaged by hand": {"run": {"replica": False}},
    "clean: looked at every four steps": {"run": {"every": 4, "drop": 0.5, "norm": True}},
    "clean: the sampler is watched": {"run": {"order": "watched"}},
}  # fmt: skip
PLANTS = {"nudge": nudge, "shift": shift, "reseed": lambda _: its.seed(7)}


def main(folder):
    """Play all cases."""
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    rank = dist.get_rank()
    for number, case in enumerate(CASES.values()):
        given = dict(case["run"])
        precision = torch.get_float32_matmul_precision()
        if "extra" in given:
            given["extra"] = flag if given["extra"] == "flag" else EXTRA[given["extra"]][0]
        if "prepare" in given:
            given["prepare"] = PLANTS[given["prepare"]]
        train(folder / str(number), rank, **given)
        torch.set_float32_matmul_precision(precision)
    told = compared(rank)
    if rank == 0:
        (folder / "compared.json").write_text(json.dumps(told))
    dist.barrier()  # no rank leaves while another one listens to it
    dist.destroy_process_group()


def compared(rank):
    """Compare at one moment, in every way that there is; return what was said."""
    its.seed(42)
    model = net(norm=True, drop=0.5)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    compare = its.ranks.compare
    told = {"alike": compare(model=model, optimizer=optimizer, check=True).to_json()}
    told["masks"] = compare(model=model, expect={"torch.cpu": "distinct"}).to_json()
    if rank == 2:
        nudge(model)
        optimizer.param_groups[0]["lr"] = 0.5
        torch.rand(2)
    told["apart"] = compare(model=model, optimizer=optimizer).to_json()
    told["text"] = str(compare(model=model, optimizer=optimizer))
    try:
        compare(model=model, check=True)
    except its.ranks.RanksDiffer as error:
        told["raised"] = str(error)
    return told


if __name__ == "__main__":
    launched = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=4,
        run_id="training",
        rdzv_backend="c10d",
        rdzv_endpoint="localhost:0",
        max_restarts=0,
        start_method="fork",
    )
    elastic_launch(launched, main)(Path(sys.argv[1]))
