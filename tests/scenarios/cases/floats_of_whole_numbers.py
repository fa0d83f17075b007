"""Whole numbers are divided: the quotient has the default dtype, which another cell set.

run: setup use other use
ask: use
probe: out
changed: yes
expect: flag torch.default_dtype 3
"""
# %% setup
import torch
a = torch.arange(1, 8)
# %% use
out = float((a / 7).sum())
# %% other
torch.set_default_dtype(torch.float64)
