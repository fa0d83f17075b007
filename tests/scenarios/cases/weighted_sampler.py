"""The weights were edited under the name that the cell does not read.

run: setup draw tweak draw
ask: draw
probe: drawn
changed: yes
expect: input sampler 3
innocent: rng torch.cpu
"""
# %% setup
import torch
from torch.utils.data import WeightedRandomSampler
weights = torch.ones(6, dtype=torch.double)
sampler = WeightedRandomSampler(weights, 12)
# %% draw
torch.manual_seed(0)
drawn = list(sampler)
# %% tweak
weights[:3] = 0
