"""Validation switches the mode there and back: the data changed.

run: setup val other val
ask: val
probe: vloss
changed: yes
expect: input xs 3
"""
# %% setup
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.Linear(2, 1))
xs = torch.randn(8, 2)
# %% val
model.eval()
with torch.inference_mode():
    vloss = model(xs).pow(2).mean().item()
model.train();
# %% other
xs = xs + 1
