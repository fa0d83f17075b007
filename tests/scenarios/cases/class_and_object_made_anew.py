"""A class was edited and its object made again: the way back makes both.

run: cls make f cls@2 make f
ask: f
probe: s
changed: yes
expect: input Net 4
back: complete
"""
# %% cls
import torch
class Net(torch.nn.Module):
    def forward(self, x): return x + 1
# %% cls@2
import torch
class Net(torch.nn.Module):
    def forward(self, x): return x + 2
# %% make
net = Net()
# %% f
s = net(torch.ones(1)).item()
