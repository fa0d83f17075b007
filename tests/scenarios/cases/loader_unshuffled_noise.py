"""A model that does not change, batches in their order, and noise on each of them.

run: setup noisy noisy
ask: noisy
probe: score
changed: yes
expect: rng torch.cpu 2
"""
# %% setup
import torch
from torch.utils.data import DataLoader
torch.manual_seed(0)
loader = DataLoader(torch.randn(64, 4), batch_size=16)
def add_noise(x):
    return x + torch.randn_like(x)
# %% noisy
score = sum(add_noise(x).sum().item() for x in loader)
