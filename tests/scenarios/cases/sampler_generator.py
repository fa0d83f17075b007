"""A sampler with its own generator was used by another cell.

run: setup pick peek pick
ask: pick
probe: order
changed: yes
expect: rng g or rng sampler.generator 2 3
"""
# %% setup
import torch
from torch.utils.data import RandomSampler
g = torch.Generator().manual_seed(3)
sampler = RandomSampler(range(30), generator=g)
# %% pick
order = list(sampler)
# %% peek
first = next(iter(sampler))
