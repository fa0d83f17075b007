"""A function of torch was replaced by one of the notebook.

run: setup q other q
ask: q
probe: out
changed: yes
expect: input torch.nn.functional.relu 3 or input F.relu 3
allow: input F
"""
# %% setup
import torch
import torch.nn.functional as F
x = torch.tensor([-1., 2.])
# %% q
out = F.relu(x).sum().item()
# %% other
F.relu = lambda x: x
