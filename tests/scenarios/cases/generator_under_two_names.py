"""A generator has two names: one draws from it, and the cell from the other.

run: setup use other use
ask: use
probe: x.sum().item()
changed: yes
expect: rng g or rng mine
"""
# %% setup
import torch

g = torch.Generator().manual_seed(0)
mine = g
# %% use
x = torch.rand(4, generator=mine)
# %% other
y = torch.rand(4, generator=g)
