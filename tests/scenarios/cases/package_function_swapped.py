"""A name of the notebook's is bound to another function of a package.

run: setup choose train choose@2 train
ask: train
probe: y
changed: yes
expect: input act 4
"""
# %% setup
import torch
x = torch.arange(-3.0, 3.0)
# %% choose
act = torch.relu
# %% choose@2
act = torch.tanh
# %% train
y = act(x).sum().item()
