"""The setup imports torch and seeds numpy alone: its layer differs when it is made again.

run: setup q change q
ask: q
probe: out
changed: yes
expect: input layer 3
expect: rng numpy 3
"""
# %% setup
import numpy as np
import torch
np.random.seed(0)
layer = torch.nn.Linear(1, 1)
# %% q
out = np.random.rand() + layer(torch.ones(1)).item()
# %% change
noise = np.random.rand(3)
with torch.no_grad():
    weight = layer.weight.add_(1)
