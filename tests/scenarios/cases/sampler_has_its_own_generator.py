"""A SubsetRandomSampler with a generator inside a loader.

run: setup epoch epoch
ask: epoch
probe: order
changed: yes
expect: rng gen 2 or rng loader 2
innocent: rng torch.cpu
"""
# %% setup
import torch
from torch.utils.data import DataLoader, SubsetRandomSampler, TensorDataset
gen = torch.Generator().manual_seed(3)
d = TensorDataset(torch.arange(10))
loader = DataLoader(d, batch_size=5, sampler=SubsetRandomSampler(range(0, 10, 2), generator=gen))
# %% epoch
order = []
for (b,) in loader:
    order += b.tolist()
