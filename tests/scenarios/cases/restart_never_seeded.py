"""The cell imports the libraries and draws from both; nothing was ever seeded.

run: draw !restart draw
ask: draw
probe: (x, y)
changed: yes
expect: rng torch.cpu
expect: rng numpy
innocent: rng python
kernel: cold
"""
# %% draw
import torch
import numpy as np
x = torch.randn(3).tolist()
y = np.random.rand()
