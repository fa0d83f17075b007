"""Weights are drawn in another default type, and the data changed as well.

run: setup fit switch change fit
ask: fit
probe: out
changed: yes
expect: flag torch.default_dtype 3
expect: input x 4
"""
# %% setup
import torch
x = torch.ones(2, 3)
# %% fit
torch.manual_seed(0)
layer = torch.nn.Linear(3, 1)
out = layer(x.to(layer.weight.dtype)).sum().item()
# %% switch
torch.set_default_dtype(torch.float64)
# %% change
x = x * 2
