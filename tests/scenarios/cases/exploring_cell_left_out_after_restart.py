"""A cell that drew was left out after the restart: the seed is the same, and numpy stands elsewhere.

run: imports seed explore split !restart imports seed split
ask: split
probe: chosen.tolist()
changed: yes
expect: rng numpy 3
says: since the restart, no cell did
innocent: rng python
innocent: rng torch.cpu
"""
# %% imports
import random
import numpy as np
import torch
# %% seed
np.random.seed(0); random.seed(0); torch.manual_seed(0)
# %% explore
print(np.random.rand(5).mean(), torch.rand(3).mean(), random.random())
# %% split
chosen = np.random.permutation(30)[:10]
