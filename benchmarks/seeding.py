"""The time of seeding every source, and of reading every state."""

from __future__ import annotations

import importlib
import logging
import random
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch

import ipytorchseed as its
from benchmarks.table import MICRO, Row, side_by_side

if TYPE_CHECKING:
    from collections.abc import Callable

PEERS = {
    "lightning": ("lightning", "seed_everything"),
    "accelerate": ("accelerate.utils", "set_seed"),
    "transformers": ("transformers", "set_seed"),
}


def plain() -> None:
    """Seed python, numpy and torch by their functions."""
    random.seed(42)
    np.random.seed(42)
    torch.manual_seed(42)


def plain_states() -> None:
    """Read the states of python, numpy and torch, without digests."""
    random.getstate()
    np.random.get_state()
    torch.get_rng_state()


def peers() -> dict[str, Callable[[], object]]:
    """Return the seeding functions of installed peers, by name."""
    found: dict[str, Callable[[], object]] = {}
    for name, (module, function) in PEERS.items():
        try:
            seeder = getattr(importlib.import_module(module), function)
        except ImportError:
            continue
        found[name] = partial(seeder, 42)
    logging.getLogger("lightning").setLevel(logging.ERROR)
    logging.getLogger("lightning.fabric").setLevel(logging.ERROR)
    return found


def rows() -> list[Row]:
    """Return the measured rows."""
    others = peers()
    seeds = side_by_side({"ours": lambda: its.seed(42), "plain": plain, **others}, number=100)
    ours = seeds["ours"] * MICRO
    result = [
        Row("seed everything", ours, seeds["plain"] * MICRO, "three plain calls", "us",
            "at most 1.1 x", seeds["ours"] <= 1.1 * seeds["plain"])
    ]  # fmt: skip
    result += [
        Row("seed everything", ours, seeds[name] * MICRO, name, "us", "less",
            seeds["ours"] < seeds[name])
        for name in others
    ]  # fmt: skip
    states = side_by_side({"ours": lambda: its.snapshot().digests, "plain": plain_states})
    result.append(
        Row("three states and digests", states["ours"] * MICRO, states["plain"] * MICRO,
            "getstate, get_state, get_rng_state", "us", "at most 0.625 x (25 of 40 us)",
            states["ours"] <= 0.625 * states["plain"])
    )  # fmt: skip
    return result
