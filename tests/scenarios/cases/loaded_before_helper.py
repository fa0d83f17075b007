"""Weights are restored in the cell, and a helper evaluates the global net; the kept state has changed.

run: setup ev other ev
ask: ev
probe: v
changed: yes
expect: input w0 3
innocent: input net
"""
# %% setup
import copy, torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(3, 1); w0 = copy.deepcopy(net.state_dict()); x = torch.randn(12, 3)
def evaluate():
    with torch.no_grad():
        return net(x).pow(2).mean().item()
# %% ev
net.load_state_dict(w0)
v = evaluate()
# %% other
with torch.no_grad():
    net.weight.mul_(2)
w0["bias"] = w0["bias"] + 0.3
