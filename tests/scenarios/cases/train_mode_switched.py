"""Switching to train mode lets dropout act; the source itself stands where it stood.

run: setup score learn score
ask: score
probe: out
changed: yes
expect: input model 3
innocent: rng torch.cpu
"""
# %% setup
import torch
torch.manual_seed(0)
x = torch.ones(2, 64)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Dropout(0.5)).eval()
# %% score
with torch.no_grad():
    out = model(x).sum().item()
# %% learn
model.train();
