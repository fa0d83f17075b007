"""A library class under a name was swapped, and so was the data; the class is called with arguments.

run: setup fwd other fwd
ask: fwd
probe: v
changed: yes
expect: input Act 3
expect: input x 3
"""
# %% setup
import torch
from torch import nn
Act, x = nn.LeakyReLU, torch.linspace(-1, 1, 6)
# %% fwd
y = Act(0.2)(x)
v = y.tolist()
# %% other
Act, x = nn.ELU, torch.linspace(-2, 2, 6)
