"""A forward hook records what a layer gave by update; k was edited.

run: setup q ins q
ask: q
probe: out
changed: yes
expect: input k 3
innocent: input seen
"""
# %% setup
import torch
from torch import nn
torch.manual_seed(0)
seen = {}
model = nn.Linear(3, 2)
def record(module, given, made):
    seen.update(out=made.detach())
model.register_forward_hook(record)
x = torch.ones(1, 3)
k = 1
# %% q
out = (model(x) * k).sum().item()
# %% ins
k = 5
