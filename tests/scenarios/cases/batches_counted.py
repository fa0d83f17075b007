"""Only the count of batches of a frozen layer moved on, which its momentum does not depend on.

run: setup q other q
ask: q
probe: out
changed: yes
expect: rng torch.cpu
innocent: input model
"""
# %% setup
import torch
torch.manual_seed(0)
model = torch.nn.BatchNorm1d(2, momentum=0.0)
x = torch.ones(4, 2)
# %% q
out = (model(x) + torch.rand(4, 2)).sum().item()
# %% other
other = model(x)
