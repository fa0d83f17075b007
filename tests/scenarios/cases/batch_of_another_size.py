"""The same row, evaluated in a batch of another size, differs in rounding.

run: setup whole ask rows ask
ask: ask
probe: first.tolist()
changed: yes
expect: input x 4
"""
# %% setup
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)).eval()
rows = torch.randn(256, 64)
# %% whole
x = rows
# %% rows
x = rows[:1]
# %% ask
with torch.no_grad():
    first = model(x)[0]
