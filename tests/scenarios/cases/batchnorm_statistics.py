"""A forward pass in another cell moved the running statistics of a BatchNorm.

run: setup score peek score
ask: score
probe: out
changed: yes
expect: input model 3
"""
# %% setup
import torch
torch.manual_seed(0)
x = torch.randn(16, 4)
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4))
# %% score
model.eval()
with torch.no_grad():
    out = model(x).sum().item()
# %% peek
model.train()
shape = model(x * 10).shape
