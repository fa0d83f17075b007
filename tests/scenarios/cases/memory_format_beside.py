"""The numbers are in another order in memory, and another input changed.

run: setup q other q
ask: q
probe: out
changed: yes
expect: input scale 3
"""
# %% setup
import torch
x = torch.arange(6.0).reshape(2, 3)
scale = 2
# %% q
out = (x * scale).sum().item()
# %% other
x = x.t().contiguous().t()
scale = 3
