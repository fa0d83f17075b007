"""The target net is copied from the online net in the cell; only the latter counts.

run: setup sync other sync
ask: sync
probe: q
changed: yes
expect: input online 3
innocent: input target
"""
# %% setup
import copy, torch
from torch import nn
torch.manual_seed(0)
online = nn.Linear(4, 2)
target = copy.deepcopy(online)
s = torch.randn(5, 4)
# %% sync
with torch.no_grad():
    for p, q_ in zip(target.parameters(), online.parameters()):
        p.data.copy_(q_.data)
    q = target(s).max(1).values.mean().item()
# %% other
with torch.no_grad():
    target.weight.add_(1.0)
    online.bias.sub_(0.5)
