"""Another cell drew from torch, and put its state back.

run: setup seed draw seed peek draw
ask: draw
probe: out
changed: no
"""
# %% setup
import torch
# %% seed
torch.manual_seed(0);
# %% draw
out = torch.rand(3).tolist()
# %% peek
with torch.random.fork_rng():
    sample = torch.rand(100)
