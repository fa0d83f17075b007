"""A shuffled loader without its own generator draws from torch's.

run: setup seed epoch epoch
ask: epoch
probe: order
changed: yes
expect: rng torch.cpu 3
"""
# %% setup
import torch
from torch.utils.data import DataLoader
loader = DataLoader(list(range(40)), batch_size=8, shuffle=True)
# %% seed
torch.manual_seed(0);
# %% epoch
order = [batch.tolist() for batch in loader]
