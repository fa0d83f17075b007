"""The first weights, drawn from a source that moved, are replaced by loaded ones; so is the data.

run: setup q other q
ask: q
probe: out
changed: yes
expect: input x 3
innocent: rng torch.cpu
"""
# %% setup
import torch
torch.manual_seed(0)
saved = torch.nn.Linear(2, 1).state_dict()
x = torch.ones(1, 2)
# %% q
model = torch.nn.Linear(2, 1)
model.load_state_dict(saved)
out = model(x).item()
# %% other
x = x * 2
