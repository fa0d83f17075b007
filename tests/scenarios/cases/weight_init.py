"""The weights of a new layer come from wherever the source stands.

run: setup seed init other init
ask: init
probe: layer.weight.tolist()
changed: yes
expect: rng torch.cpu 3 4
"""
# %% setup
import torch
# %% seed
torch.manual_seed(0);
# %% init
layer = torch.nn.Linear(4, 2)
# %% other
sample = torch.randn(100)
