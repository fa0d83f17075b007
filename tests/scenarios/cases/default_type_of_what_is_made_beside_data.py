"""A tensor is made in another default type, which rounds otherwise, and the data changed as well.

run: setup add switch change add
ask: add
probe: total
changed: yes
expect: flag torch.default_dtype 3
expect: input x 4
"""
# %% setup
import torch
x = 1.0
# %% add
total = torch.tensor(0.1).item() + x
# %% switch
torch.set_default_dtype(torch.float64)
# %% change
x = 2.0
