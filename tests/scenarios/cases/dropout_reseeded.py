"""The cell with dropout seeds itself, whatever the sources did meanwhile.

run: setup score noise score
ask: score
probe: out
changed: no
"""
# %% setup
import random, numpy as np, torch
torch.manual_seed(0)
x = torch.ones(2, 8)
drop = torch.nn.Dropout(0.5)
# %% score
torch.manual_seed(5)
out = drop(x).tolist()
# %% noise
a, b, c = torch.rand(7), np.random.rand(3), random.random()
