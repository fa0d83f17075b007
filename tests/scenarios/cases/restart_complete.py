"""After the restart all cells were run in the same order.

run: setup seed init noise !restart setup seed init
ask: init
probe: layer.weight.tolist()
changed: no
"""
# %% setup
import torch
# %% seed
torch.manual_seed(0);
# %% init
layer = torch.nn.Linear(3, 2)
# %% noise
torch.rand(10);
