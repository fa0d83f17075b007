"""A sampler of the user's draws its seed as the loader does, from torch's own generator.

run: setup epoch epoch
ask: epoch
probe: order
changed: yes
expect: rng torch.cpu 2
"""
# %% setup
import torch
from torch.utils.data import DataLoader
class Drawn:
    def __len__(self): return 40
    def __iter__(self):
        seed = int(torch.empty((), dtype=torch.int64).random_())
        return iter(torch.randperm(40, generator=torch.Generator().manual_seed(seed)).tolist())
loader = DataLoader(torch.arange(40), batch_size=5, sampler=Drawn())
# %% epoch
order = torch.cat(list(loader)).tolist()
