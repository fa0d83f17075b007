"""Seeding the workers of a ``DataLoader``."""

from __future__ import annotations


def seed_worker(worker_id: int) -> None:  # noqa: ARG001 -- torch calls it with the worker's number
    """Give a DataLoader worker its own streams: pass it as ``worker_init_fn``.

    torch seeds python, numpy and itself in every worker already, each worker differently (numpy
    since torch 1.9). What it leaves alone, and this seeds too: registered sources, and generator
    objects that the dataset holds, which are copied into every worker and would otherwise give
    the same numbers in each. Each such generator gets a seed that follows from the worker's own.

    Args:
        worker_id: The worker's number, from 0.

    Example:
        >>> loader = DataLoader(dataset, num_workers=2, worker_init_fn=its.seed_worker)
    """
    import torch
    from torch.utils.data import get_worker_info

    from ipytorchseed.rng.generators import find_generators
    from ipytorchseed.rng.seeds import LIMIT
    from ipytorchseed.rng.table import seed_all

    common = torch.initial_seed() % LIMIT
    seed_all(common)
    info = get_worker_info()
    if info is not None:
        for found in find_generators({"dataset": info.dataset}):
            found.reseed(common)
