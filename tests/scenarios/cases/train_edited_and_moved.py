"""The cell was edited and torch moved on: the edit comes first.

run: setup train train@2
ask: train
probe: losses
changed: yes
expect: code train
expect: rng torch.cpu 2
first: code train
"""
# %% setup
import torch
torch.manual_seed(0)
# %% train
model = torch.nn.Linear(4, 1)
x = torch.randn(16, 4)
losses = [float((model(x) ** 2).mean())]
# %% train@2
model = torch.nn.Linear(4, 1)
x = torch.randn(32, 4)
losses = [float((model(x) ** 2).mean())]
