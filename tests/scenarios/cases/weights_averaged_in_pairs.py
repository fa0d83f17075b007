"""A target's weights move a step towards those of another model: what they were counts.

run: setup sync other sync
ask: sync
probe: q
changed: yes
expect: input target 3
"""
# %% setup
import copy, torch
from torch import nn
torch.manual_seed(0)
online = nn.Linear(4, 2)
target = nn.Linear(4, 2)
states = torch.randn(5, 4)
# %% sync
with torch.no_grad():
    for p, q in zip(target.parameters(), online.parameters()):
        p.data.copy_(0.9 * p.data + 0.1 * q.data)
    q = target(states).max(1).values.mean().item()
# %% other
with torch.no_grad():
    target.weight.add_(1.0)
