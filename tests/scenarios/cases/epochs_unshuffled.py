"""Trained on from where it was, on batches in their order: no source has to do with it.

run: setup train train
ask: train
probe: losses
changed: yes
expect: input model 2
allow: input opt
"""
# %% setup
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
model = nn.Linear(4, 1)
loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.randn(64, 1)), batch_size=16)
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
loss_of = nn.MSELoss()
# %% train
losses = []
model.train()
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        opt.step()
        losses.append(loss.item())
