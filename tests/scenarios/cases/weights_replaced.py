"""First weights are drawn and replaced by loaded ones; what the net is given changed.

run: setup load change load
ask: load
probe: out
changed: yes
expect: input x 3
innocent: rng torch.cpu
"""
# %% setup
import torch
torch.manual_seed(0)
saved = torch.nn.Linear(4, 2).state_dict()
x = torch.ones(4)
# %% load
net = torch.nn.Linear(4, 2)
net.load_state_dict(saved)
net.eval()
with torch.no_grad():
    out = net(x).tolist()
# %% change
x = x * 2
