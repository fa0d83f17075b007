"""Finds the rank of this process, and derives a seed for each rank."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any

from ipytorchseed.rng.seeds import derive_seed


def process_group() -> Any:  # a module
    """Return ``torch.distributed`` if this process is in a group, else None."""
    distributed: Any = sys.modules.get("torch.distributed")
    with suppress(Exception):  # half imported, or shutting down
        if distributed.is_available() and distributed.is_initialized():
            return distributed
    return None


def own_rank() -> int | None:
    """Return the rank of this process among those that run the same notebook, or None.

    The rank is read from ``torch.distributed`` if that is in use, else from the variables ``RANK``
    and ``LOCAL_RANK``, which launchers set. Else it is the id of the ipyparallel engine. Nothing is
    imported or started.
    """
    group = process_group()
    if group is not None:
        with suppress(Exception):  # shutting down
            if group.get_world_size() > 1:
                return int(group.get_rank())
    for name in ("RANK", "LOCAL_RANK"):
        told = os.environ.get(name, "")
        if told.isdecimal():
            return int(told)
    if "ipyparallel" not in sys.modules:
        return None
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    engine = getattr(getattr(shell, "kernel", None), "engine_id", None)
    return engine if isinstance(engine, int) else None


def seed_by_rank(seed: int, rank: int | None) -> int:
    """Derive the seed of a rank, independent of the number of ranks.

    Args:
        seed: The common seed, from 0 to 2**32-1.
        rank: The rank; None counts as rank 0.
    """
    return derive_seed(seed, f"rank {rank or 0}")
