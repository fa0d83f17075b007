"""Another cell put the same numbers into memory in another order: the cell reads them as they lie.

run: setup q other q
ask: q
probe: out
changed: yes
expect: input x 3
"""
# %% setup
import torch
x = torch.arange(6.0).reshape(2, 3)
# %% q
out = x.stride()
# %% other
x = x.t().contiguous().t()
