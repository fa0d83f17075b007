"""Seeds the workers of a ``DataLoader``."""

from __future__ import annotations


def seed_worker(worker_id: int) -> None:  # noqa: ARG001 -- torch calls it with the worker's number
    """Seed all random sources and generators in a worker of a ``DataLoader``.

    Pass this function as ``worker_init_fn``. torch already seeds Python, numpy and itself
    differently in each worker. This function also seeds registered sources and the generator
    objects in the dataset. Each worker has a copy of these generators, and would otherwise draw the
    same numbers from it. Their seeds are derived from the worker's seed.

    Args:
        worker_id: The number of the worker, from 0.

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
