"""The body's weights are loaded, the head's are drawn: that is why it differs.

run: setup load load
ask: load
probe: out
changed: yes
expect: rng torch.cpu 2
"""
# %% setup
import torch
torch.manual_seed(0)
saved = torch.nn.Linear(4, 4).state_dict()
x = torch.ones(4)
# %% load
net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 1))
net[0].load_state_dict(saved)
with torch.no_grad():
    out = net(x).tolist()
