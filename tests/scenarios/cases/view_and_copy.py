"""A tensor is replaced by a view of it with the same numbers, and the source moved.

run: setup q other q
ask: q
probe: out
changed: yes
expect: rng torch.cpu 2
"""
# %% setup
import torch
torch.manual_seed(0)
x = torch.arange(6.0)
# %% q
out = (x + torch.rand(6)).sum().item()
# %% other
x = torch.stack([x, x]).t()[:, 0]
