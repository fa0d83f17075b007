"""The cell reads the rate of an optimizer that has moved its parameters.

run: setup read step read
ask: read
probe: out
changed: yes
expect: input k 3
innocent: input opt
"""
# %% setup
import torch
torch.manual_seed(0)
net = torch.nn.Linear(2, 1); opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9); k = 2
# %% read
out = opt.param_groups[0]["lr"] * k
# %% step
net(torch.ones(1, 2)).sum().backward(); opt.step(); k = 3
