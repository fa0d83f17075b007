"""A layer's weight is of another size than before.

run: setup use edit use
ask: use
probe: v
changed: yes
expect: input net 3
"""
# %% setup
import torch
net = torch.nn.Linear(3, 2)
# %% use
v = net.weight.shape[1] + len(net.weight)
# %% edit
net.weight = torch.nn.Parameter(torch.zeros(7, 3))
