"""A tensor is made of another's type and device, as wide as a number says.

run: setup make change make
ask: make
probe: out.tolist()
changed: yes
expect: input wide 3
innocent: input x
innocent: input y
"""
# %% setup
import torch
x, y, wide = torch.tensor([1.0, 2.0]), torch.tensor([1.0]), 2
# %% make
out = torch.cat([x.new_zeros(wide), y.new_full((1,), 7)])
# %% change
x, y, wide = torch.tensor([1.0, 2.5]), torch.tensor([2.0]), 3
