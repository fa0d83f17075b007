"""The time of a traced run, compared with torch's DebugMode and with no tracing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch
from torch import nn
from torch.utils._debug_mode import DebugMode
from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks.table import MILLI, Row, side_by_side
from ipytorchseed.trace.draws import Draws
from ipytorchseed.trace.file import Trace
from ipytorchseed.trace.places import Lines
from ipytorchseed.trace.recorder import Recorder

Step = Callable[[], None]


class Empty(TorchDispatchMode):
    """A dispatch mode that only calls each operation."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401 -- as torch calls it
        return func(*args, **(kwargs or {}))


def mlp_step() -> None:
    """Train a small network for one step: some 90 operations."""
    optimizer.zero_grad()
    nn.functional.cross_entropy(mlp(rows_in), labels).backward()
    optimizer.step()


def cnn_step() -> None:
    """Train a convolutional network for one step at batch 64."""
    slower.zero_grad()
    nn.functional.cross_entropy(cnn(images), labels).backward()
    slower.step()


torch.manual_seed(0)
mlp = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.SGD(mlp.parameters(), lr=0.1, momentum=0.9, foreach=False)
cnn = nn.Sequential(
    nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(64 * 8 * 8, 10),
)  # fmt: skip
slower = torch.optim.SGD(cnn.parameters(), lr=0.1, momentum=0.9, foreach=False)
rows_in, labels = torch.randn(64, 64), torch.randint(0, 10, (64,))
images = torch.randn(64, 3, 32, 32)


def recorder() -> Recorder:
    """Return a recorder like the recorder of ``%%deterministic --check``."""
    names = globals()
    draws = Draws(names, count=False)
    return Recorder(Lines(__file__, names), names, draws=draws, trace=Trace())


def traced(step: Step) -> Step:
    """Return a function that does steps under a recorder."""

    def run() -> None:
        with recorder():
            for _ in range(STEPS):
                step()

    return run


def under(mode: Callable[[], AbstractContextManager[object]], step: Step) -> Step:
    """Return a function that does steps under another mode."""

    def run() -> None:
        with mode():
            for _ in range(STEPS):
                step()

    return run


def bare(step: Step) -> Step:
    """Return a function that does steps without a mode."""

    def run() -> None:
        for _ in range(STEPS):
            step()

    return run


STEPS = 10
"""Steps under one mode. Several steps share the cost of entering it."""


@contextmanager
def hashing() -> Iterator[None]:
    """Enter torch's DebugMode with ``log_tensor_hashes``."""
    with DebugMode(), DebugMode.log_tensor_hashes(hash_inputs=True):
        yield


def rows() -> list[Row]:
    """Return the measured rows."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # for small operations, more threads only add noise
    small = side_by_side(
        {
            "bare": bare(mlp_step),
            "empty": under(Empty, mlp_step),
            "ours": traced(mlp_step),
            "hashes": under(hashing, mlp_step),
        },
        rounds=15,
        number=2,
    )
    torch.set_num_threads(threads)
    large = side_by_side({"bare": bare(cnn_step), "ours": traced(cnn_step)}, rounds=5, number=1)
    each = {name: MILLI * time / STEPS for name, time in small.items()}
    big = {name: MILLI * time / STEPS for name, time in large.items()}
    return [
        Row("MLP step, traced", each["ours"], each["hashes"], "DebugMode, hashes", "ms",
            "at most 0.4 x", each["ours"] <= 0.4 * each["hashes"]),
        Row("MLP step, traced", each["ours"], each["empty"], "an empty mode", "ms",
            "at most 2 x", each["ours"] <= 2 * each["empty"]),
        Row("MLP step, traced", each["ours"], each["bare"], "bare", "ms", "none", met=True),
        Row("CNN step, traced", big["ours"], big["bare"], "bare", "ms",
            "at most 1.5 x", big["ours"] <= 1.5 * big["bare"]),
    ]  # fmt: skip
