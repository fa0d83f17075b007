"""Gradients of the earlier run are added to.

run: setup q q
ask: q
probe: g
changed: yes
expect: input model 2
"""
# %% setup
import torch
torch.manual_seed(0)
model = torch.nn.Linear(4,1)
x = torch.randn(5,4)
# %% q
model(x).sum().backward()
g = model.weight.grad.sum().item()
