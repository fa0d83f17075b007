"""The cell is seeded and made deterministic by its magic.

run: setup draw noise draw
ask: draw
probe: out
changed: no
needs: ipytorchseed
"""
# %% setup
import torch
# %% draw
%%deterministic 42
out = torch.rand(3).tolist()
# %% noise
torch.rand(5);
