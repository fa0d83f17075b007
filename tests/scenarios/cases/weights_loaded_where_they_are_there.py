"""Weights are loaded where a file of them is there; what they would be trained on changed.

run: setup q change q
ask: q
probe: score
changed: yes
expect: input test_x 3
innocent: input train_x
allow: input epochs
"""
# %% setup
import os
import torch
from torch import nn
torch.manual_seed(0)
train_x, train_y = torch.randn(64, 4), torch.randn(64, 1)
test_x, test_y = torch.randn(16, 4), torch.randn(16, 1)
epochs = 3
model = nn.Linear(4, 1)
torch.save(model.state_dict(), "weights.pt")
# %% q
if os.path.exists("weights.pt"):
    model.load_state_dict(torch.load("weights.pt"))
else:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(epochs):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(train_x), train_y).backward()
        optimizer.step()
    torch.save(model.state_dict(), "weights.pt")
with torch.no_grad():
    score = nn.functional.mse_loss(model(test_x), test_y).item()
# %% change
train_x = train_x * 2
epochs = 5
test_x = test_x + 1
