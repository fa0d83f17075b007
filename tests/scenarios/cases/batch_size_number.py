"""Evaluated in batches of another size, the same rows sum up to the same except rounding.

run: setup size ask other ask
ask: ask
probe: total.tolist()
changed: yes
expect: input batch_size 4
"""
# %% setup
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)).eval()
rows = torch.randn(256, 64)
# %% size
batch_size = 256
# %% other
batch_size = 1
# %% ask
with torch.no_grad():
    total = torch.cat([model(each) for each in rows.split(batch_size)])[:, 0]
