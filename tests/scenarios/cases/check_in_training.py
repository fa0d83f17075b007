"""A model is checked in training: it has been trained once by it, as by any run.

run: setup train@2 train
ask: train
probe: round(loss, 6)
changed: yes
expect: input model
allow: input *
"""
# %% setup
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
x, y = torch.randn(64, 4), torch.randn(64, 1)
# %% train
for _ in range(5):
    optimizer.zero_grad()
    error = nn.functional.mse_loss(model(x), y)
    error.backward()
    optimizer.step()
loss = error.item()
# %% train@2
%%deterministic --check
for _ in range(5):
    optimizer.zero_grad()
    error = nn.functional.mse_loss(model(x), y)
    error.backward()
    optimizer.step()
loss = error.item()
