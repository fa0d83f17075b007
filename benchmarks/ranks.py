"""The cost of comparing four ranks, and of watching a rank."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
from torch import nn

import ipytorchseed as its
from benchmarks.table import MILLI, Row, side_by_side
from ipytorchseed.ranks.looking import Looker

LARGE = 100
"""The number of layers, each with a million parameters."""

EVERY = 100


def large() -> nn.Module:
    """Return a model with 100 million parameters."""
    return nn.Sequential(*(nn.Linear(1000, 1000, bias=False) for _ in range(LARGE)))


def rows() -> list[Row]:
    """Return the measured rows."""
    return [_compare(), _watch()]


def _compare() -> Row:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "times.json"
        launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "4"]
        words = [sys.executable, *launch, "-m", "benchmarks.ranks", str(out)]
        subprocess.run(words, check=True, stderr=subprocess.DEVNULL)
        whole, read = json.loads(out.read_text())
    what = "compare 100 M parameters on 4 ranks, beyond reading them"
    return Row(what, whole - read, read, "reading them", "s", "at most 0.3 s", whole - read <= 0.3)


def _in_rank(out: Path) -> None:
    """Time a comparison in one of the ranks, and the part of it that reads memory."""
    import torch.distributed as dist

    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    model = large()
    looker = Looker(lambda: model, {})
    its.ranks.compare(model=model)
    times: dict[str, list[float]] = {"whole": [], "read": []}
    for _ in range(5):
        dist.barrier()
        begin = time.perf_counter()
        looker.values()
        dist.barrier()  # wait for the slowest rank, like a comparison does
        times["read"].append(time.perf_counter() - begin)
        begin = time.perf_counter()
        its.ranks.compare(model=model)
        times["whole"].append(time.perf_counter() - begin)
    if dist.get_rank() == 0:
        out.write_text(json.dumps([sorted(each)[2] for each in times.values()]))
    dist.destroy_process_group()


def _watch() -> Row:
    """Return a row for the time that watching adds to the steps of a small CNN."""
    blocks: list[nn.Module] = []
    for wide, deep in ((3, 32), (32, 64), (64, 128)):
        blocks += [nn.Conv2d(wide, deep, 3, padding=1), nn.BatchNorm2d(deep), nn.ReLU()]
        blocks += [nn.MaxPool2d(2), nn.Dropout(0.1)]
    model = nn.Sequential(*blocks, nn.Flatten(), nn.Linear(128 * 16, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    images, labels = torch.randn(64, 3, 32, 32), torch.randint(10, (64,))

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()

    bare = side_by_side({"step": step}, rounds=5, number=2)["step"]
    with (
        tempfile.TemporaryDirectory() as folder,
        its.ranks.watch(model, EVERY, folder=folder) as it,
    ):
        step()

        def looks() -> None:
            """Call what watching calls in a hundred training steps."""
            for _ in range(EVERY):
                for _ in range(3):
                    it._callers._note("torch.dropout", sys._getframe(0), None)  # noqa: SLF001
                it._stepped(optimizer, (), {})  # noqa: SLF001

        added = side_by_side({"looks": looks}, rounds=5, number=1)["looks"] / EVERY
    what = "watch every 100 steps, for each step of a CNN"
    goal = "at most 1% of the step"
    return Row(what, added * MILLI, bare * MILLI, "the step", "ms", goal, added <= bare * 0.01)


if __name__ == "__main__":
    _in_rank(Path(sys.argv[1]))
