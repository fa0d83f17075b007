"""Randomness in DataLoaders, with real worker processes."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info

import ipytorchseed as its

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("put_back")


def from_python():
    """Draw from python's ``random``."""
    return random.random()


def from_numpy():
    """Draw from numpy's legacy generator."""
    return np.random.random()


def from_torch():
    """Draw from torch's default generator."""
    return torch.rand(1).item()


def from_new_generator():
    """Draw from a generator made in the worker, without a seed."""
    return np.random.default_rng().random()


@dataclass
class Noise(Dataset):
    """Four items: the worker and a number it drew."""

    draw: Callable[[], float]

    def __len__(self):
        """Return how many."""
        return 4

    def __getitem__(self, index):
        """Draw."""
        info = get_worker_info()
        return (info.id if info else None), self.draw()


class Held(Dataset):
    """Four items, drawn from a generator in the dataset."""

    def __init__(self, kind):
        """Make the generator, with a seed."""
        makes = {
            "numpy": lambda: np.random.default_rng(0),
            "legacy": lambda: np.random.RandomState(0),
            "python": lambda: random.Random(0),
            "torch": lambda: torch.Generator().manual_seed(0),
        }
        self.rng = makes[kind]()

    def __len__(self):
        """Return how many."""
        return 4

    def __getitem__(self, index):
        """Draw."""
        is_torch = isinstance(self.rng, torch.Generator)
        number = torch.rand(1, generator=self.rng).item() if is_torch else self.rng.random()
        return get_worker_info().id, number


def loader(dataset, workers, **options):
    """Make a loader of single items."""
    return DataLoader(dataset, batch_size=None, num_workers=workers, **options)


def epoch(items):
    """Return the numbers of one epoch, in order."""
    return [number for _, number in items]


def by_worker(items):
    """Return the numbers of one epoch for each of two workers."""
    numbers = {0: [], 1: []}
    for worker, number in items:
        numbers[worker].append(number)
    return numbers[0], numbers[1]


# --------------------------------------------------------------------------------------------------
# The classic cases


@pytest.mark.parametrize(
    ("seed", "workers", "repeats"),
    [
        (random.seed, 0, True),
        (random.seed, 1, False),
        (torch.manual_seed, 0, False),
        (torch.manual_seed, 1, True),
        (its.seed, 0, True),
        (its.seed, 1, True),
    ],
    ids=["random-0", "random-1", "torch-0", "torch-1", "its-0", "its-1"],
)
def test_which_seed_makes_python_random_in_a_dataset_repeat(seed, workers, repeats):
    """In the main process it is ``random.seed``.

    In a worker it is torch's seed. ``its.seed`` sets both.
    """
    runs = []
    for _ in range(2):
        seed(42)
        runs.append(epoch(loader(Noise(from_python), workers)))
    assert (runs[0] == runs[1]) is repeats


@pytest.mark.parametrize("draw", [from_python, from_numpy, from_torch])
def test_two_workers_do_not_give_the_same_numbers(draw):
    """In each, torch seeds python, itself and (since 1.9) numpy differently."""
    its.seed(42)
    first, second = by_worker(loader(Noise(draw), 2))
    assert len({*first, *second}) == 4
    its.seed(42)
    assert by_worker(loader(Noise(draw), 2)) == (first, second)


def test_a_generator_made_in_a_worker_without_a_seed_never_repeats():
    """The operating system seeds it. Seeds of ours or torch's do not affect it."""
    runs = []
    for _ in range(2):
        its.seed(42)
        runs.append(epoch(loader(Noise(from_new_generator), 1, worker_init_fn=its.seed_worker)))
    assert runs[0] != runs[1]


# --------------------------------------------------------------------------------------------------
# Generators that the dataset holds


held = pytest.mark.parametrize("kind", ["numpy", "legacy", "python", "torch"])


@held
def test_a_generator_that_the_dataset_holds_gives_the_same_in_each_worker(kind):
    """It is copied into each, so the numbers repeat within the epoch, and in the next."""
    its.seed(42)
    first, second = by_worker(loader(Held(kind), 2))
    assert first == second
    assert by_worker(loader(Held(kind), 2)) == (first, second)


@held
def test_seed_worker_gives_it_a_stream_of_its_own_in_each_worker(kind):
    """The stream is derived from the main process's seed, and differs in each epoch."""
    items = loader(Held(kind), 2, worker_init_fn=its.seed_worker)
    its.seed(42)
    first, second = by_worker(items)
    assert len({*first, *second}) == 4
    assert by_worker(items) != (first, second)
    its.seed(42)
    assert by_worker(items) == (first, second)
    its.seed(43)
    assert by_worker(items) != (first, second)


@pytest.mark.parametrize("draw", [from_python, from_numpy, from_torch])
def test_with_seed_worker_the_sources_still_differ_and_repeat(draw):
    """It also seeds them, from each worker's seed."""
    items = loader(Noise(draw), 2, worker_init_fn=its.seed_worker)
    its.seed(42)
    first, second = by_worker(items)
    assert len({*first, *second}) == 4
    its.seed(42)
    assert by_worker(items) == (first, second)


def test_seed_worker_reaches_registered_sources(monkeypatch):
    """It seeds sources that torch does not know, with the worker's seed."""
    seeds = []
    its.register_source("dice", seed=seeds.append, read=lambda: None, write=print)
    torch.manual_seed(2**32 + 7)  # as torch seeds a worker: 64 bits
    its.seed_worker(0)
    assert seeds == [7]


# --------------------------------------------------------------------------------------------------
# Workers that stay


def test_reseeding_does_not_reach_workers_that_stay():
    """With ``persistent_workers`` a second epoch continues the streams.

    Only a new loader, with new workers, starts again.
    """
    its.seed(42)
    staying = loader(Noise(from_python), 1, persistent_workers=True)
    first = epoch(staying)
    its.seed(42)
    assert not {*epoch(staying)} & {*first}
    its.seed(42)
    assert epoch(loader(Noise(from_python), 1, persistent_workers=True)) == first


# --------------------------------------------------------------------------------------------------
# What a loader takes from torch.cpu


def _drew(action):
    before = torch.get_rng_state()
    action()
    return not torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("workers", [0, 1])
def test_iterating_a_loader_draws_from_torch_and_making_one_does_not(workers):
    """A seed for workers is drawn at each iteration, workers or not, shuffled or not."""
    made = []
    assert not _drew(lambda: made.append(loader(Noise(from_python), workers)))
    assert _drew(lambda: iter(made[0]))


@pytest.mark.parametrize("shuffle", [False, True])
def test_a_loader_with_a_generator_of_its_own_leaves_torch_alone(shuffle):
    """The order and workers' seeds then come from that generator."""
    own = torch.Generator().manual_seed(1)
    before = own.get_state()
    made = loader(Noise(from_python), 0, generator=own, shuffle=shuffle)
    assert not _drew(lambda: epoch(made))
    assert not torch.equal(own.get_state(), before)
