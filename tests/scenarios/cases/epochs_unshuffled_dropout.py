"""Batches in their order, and a dropout that draws again: both it and the training are causes.

run: setup train train
ask: train
probe: losses
changed: yes
expect: input model 2
expect: rng torch.cpu 2
allow: input opt
"""
# %% setup
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 1))
loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.randn(64, 1)), batch_size=16)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
# %% train
losses = []
model.train()
for x, y in loader:
    opt.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    opt.step()
    losses.append(loss.item())
