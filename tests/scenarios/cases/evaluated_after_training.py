"""Evaluated again after more training; the loader's pass draws a seed that no one uses.

run: setup score train score
ask: score
probe: score
changed: yes
expect: input model 3
"""
# %% setup
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 1))
data = TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
held_out = DataLoader(data, batch_size=16)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    total = 0.0
    for x, y in loader:
        total += nn.functional.mse_loss(model(x), y, reduction="sum").item()
    return total / len(loader.dataset)
# %% score
score = evaluate(model, held_out)
# %% train
model.train()
for x, y in held_out:
    opt.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    opt.step()
