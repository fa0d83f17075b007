"""The time of digests, compared with reading the values and with joblib's hash."""

from __future__ import annotations

import statistics
import time
from functools import partial
from typing import TYPE_CHECKING

import torch
from torch import nn

from benchmarks.table import MICRO, MILLI, Row, side_by_side
from ipytorchseed.fingerprint import Budget, Memo, fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable

GIB = 2**30


def joblib_hash() -> Callable[[object], object] | None:
    """Return joblib's hash function, or None if joblib is not installed."""
    try:
        import joblib
    except ImportError:
        return None
    hashed: Callable[[object], object] = joblib.hash
    return hashed


def _plenty() -> Budget:
    return Budget(seconds=1e9)


def big_model() -> nn.Module:
    """Return a network of 1 GiB."""
    layers = [nn.Linear(2048, 2048, device="meta") for _ in range(64)]
    net = nn.Sequential(*layers).to_empty(device="cpu")
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.fill_(0.5)
    return net


def small_model() -> nn.Module:
    """Return a network with four parameters."""
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))


def tensor_rows() -> list[Row]:
    """Return rows for a tensor of 1 GiB, digested by one thread."""
    tensor = torch.full((GIB // 4,), 0.5)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        times = side_by_side(
            {
                "ours": lambda: fingerprint(tensor, budget=_plenty()),
                "sum": lambda: torch.sum(tensor),
            },
            rounds=9,
            number=1,
        )
    finally:
        torch.set_num_threads(threads)
    ours, read = times["ours"], times["sum"]
    rows = [
        Row("digest of 1 GiB float32", ours * MILLI, read * MILLI, "torch.sum, one thread", "ms",
            "at most 1.25 x (80% of the speed)", ours <= 1.25 * read)
    ]  # fmt: skip
    peer = joblib_hash()
    if peer is not None:
        began = time.perf_counter()
        peer(tensor.numpy())
        took = time.perf_counter() - began
        rows.append(
            Row("digest of 1 GiB float32", ours * MILLI, took * MILLI, "joblib.hash", "ms",
                "at most 0.05 x (20 times as fast)", 20 * ours <= took)
        )  # fmt: skip
    return rows


def again_rows() -> list[Row]:
    """Return rows for digesting unchanged values again."""
    memo, net, small = Memo(), big_model(), small_model()
    fingerprint(net, memo=memo, budget=_plenty())
    times = []
    for _ in range(20):
        budget = Budget()
        began = time.perf_counter()
        found = fingerprint(net, memo=memo, budget=budget)
        times.append(time.perf_counter() - began)
        assert found.exact  # noqa: S101 -- otherwise, only a sample was digested
    took = statistics.median(times)
    rows = [
        Row("unchanged model of 1 GiB", took * MILLI, None, "", "ms", "below 5 ms", took < 5e-3)
    ]
    values: dict[str, tuple[object, float]] = {
        "int": (42, 5e-6),
        "float": (0.5, 5e-6),
        "str": ("text", 5e-6),
        "network of 4 parameters": (small, 1e-4),
    }
    budget = _plenty()
    for name, (value, bound) in values.items():
        ours = side_by_side({"ours": partial(fingerprint, value, memo=memo, budget=budget)})["ours"]
        goal = f"below {bound * MICRO:g} us"
        rows.append(Row(name, ours * MICRO, None, "", "us", goal, ours < bound))
    return rows


def rows() -> list[Row]:
    """Return the measured rows."""
    return [*tensor_rows(), *again_rows()]
