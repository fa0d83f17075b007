"""A sampler of the user's shuffles with its own generator; the loader's seed is unused.

run: setup epoch epoch
ask: epoch
probe: order
changed: yes
expect: rng sampler.gen 2
allow: input loader
allow: input sampler
"""
# %% setup
import torch
from torch.utils.data import DataLoader, Sampler
class Half(Sampler):
    def __init__(self, n): self.n, self.gen = n, torch.Generator().manual_seed(3)
    def __iter__(self): return iter(torch.randperm(self.n, generator=self.gen)[: self.n // 2].tolist())
    def __len__(self): return self.n // 2
sampler = Half(40)
loader = DataLoader(torch.arange(40), batch_size=5, sampler=sampler)
# %% epoch
order = torch.cat(list(loader)).tolist()
