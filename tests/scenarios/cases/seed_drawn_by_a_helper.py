"""A helper draws the seed that it is not given, and seeds all sources with that.

run: setup begin !restart setup begin
ask: begin
probe: out
changed: yes
expect: rng python
innocent: rng numpy
innocent: rng torch.cpu
verdict: explained
kernel: cold
"""
# %% setup
import random
import numpy as np
import torch
def seed_everything(seed=None):
    if seed is None:
        seed = random.randint(0, 2**32 - 1)
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    return seed
# %% begin
out = seed_everything()
