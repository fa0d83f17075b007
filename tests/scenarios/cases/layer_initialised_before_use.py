"""A layer is initialised again from a source that moved on.

run: setup init init
ask: init
probe: s
changed: yes
expect: rng torch.cpu 2
innocent: input lin
"""
# %% setup
import torch
torch.manual_seed(0)
lin = torch.nn.Linear(4, 4)
# %% init
torch.nn.init.xavier_uniform_(lin.weight)
s = lin(torch.ones(4)).sum().item()
