"""Seeds the workers of a ``DataLoader``."""

from __future__ import annotations


def seed_worker(worker_id: int) -> None:  # noqa: ARG001 -- torch calls it with the worker's number
    """Give a DataLoader worker its own streams. Pass it as ``worker_init_fn``.

    torch already seeds python, numpy (since torch 1.9) and itself differently in every worker. This
    function also seeds registered sources, and generator objects in the dataset. These are copied
    into every worker and would otherwise give the same numbers in each. Each such generator gets a
    seed derived from the worker's seed.

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
