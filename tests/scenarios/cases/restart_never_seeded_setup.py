"""Sources imported by another cell, drawn from at length, and never seeded in either kernel.

run: setup much draw !restart setup much draw
ask: draw
probe: out
changed: yes
expect: rng numpy
expect: rng torch.cpu
verdict: explained
kernel: cold
"""
# %% setup
import numpy as np
import torch
# %% much
a = np.random.rand(15_000_000)[-1]
b = torch.rand(15_000_000)[-1].item()
# %% draw
out = np.random.rand(), torch.rand(1).item()
