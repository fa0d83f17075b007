"""The data were made again and torch moved on: the data come first.

run: setup data train data@2 train
ask: train
probe: loss
changed: yes
expect: input x 4
expect: rng torch.cpu
first: input x
"""
# %% setup
import torch
torch.manual_seed(0)
# %% data
x = torch.linspace(0, 1, 64).reshape(16, 4)
# %% data@2
x = torch.linspace(0, 2, 64).reshape(16, 4)
# %% train
model = torch.nn.Linear(4, 1)
loss = float((model(x) ** 2).mean())
