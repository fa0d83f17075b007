"""A sampler shuffles by its epoch, which was set, from its own generator.

run: setup ep set ep
ask: ep
probe: out
changed: yes
expect: input sampler or input loader 3
allow: input loader
innocent: rng torch.cpu
"""
# %% setup
import torch
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler
ds = TensorDataset(torch.arange(12.))
sampler = DistributedSampler(ds, num_replicas=2, rank=0, shuffle=True, seed=0)
loader = DataLoader(ds, batch_size=3, sampler=sampler)
# %% ep
out = [b[0].tolist() for b in loader]
# %% set
sampler.set_epoch(3)
