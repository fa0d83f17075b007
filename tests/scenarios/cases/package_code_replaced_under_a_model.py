"""A method of a layer and a function that a layer calls are replaced, and two that the model never comes by.

run: setup forward patch forward
ask: forward
probe: out
changed: yes
expect: input torch.nn.Linear.forward 3
expect: input torch.nn.functional.relu 3
"""
# %% setup
import torch
from torch import nn
import torch.nn.functional as F
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 5), nn.ReLU())
        self.head = nn.Linear(5, 1)
    def forward(self, x):
        return self.head(self.body(x))
torch.manual_seed(0)
net = Net()
x = torch.randn(4, 3)
# %% forward
out = net(x).sum().item()
# %% patch
original = nn.Linear.forward
nn.Linear.forward = lambda self, x: original(self, x) * 2
nn.Conv2d.forward = lambda self, x: x
F.gelu = lambda x, approximate="none": x
def use_leaky_units():
    setattr(F, "relu", lambda x, inplace=False: F.leaky_relu(x, 0.3))
use_leaky_units()
