"""A loader made in the cell shuffles where a variable says so.

run: setup ev ev
ask: ev
probe: first
changed: yes
expect: rng torch.cpu 2
"""
# %% setup
import torch
from torch.utils.data import DataLoader
torch.manual_seed(0)
mix = True
# %% ev
first = next(iter(DataLoader(range(100), batch_size=8, shuffle=mix))).tolist()
