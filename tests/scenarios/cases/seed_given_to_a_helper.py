"""A helper would ask for entropy, but is given a seed.

run: setup draw change draw
ask: draw
probe: out
changed: yes
expect: input scale 3
"""
# %% setup
import numpy as np
scale = 1.0
def generator(seed=None):
    if seed is None:
        return np.random.default_rng()
    if isinstance(seed, np.random.Generator):
        return seed
    return np.random.default_rng(seed)
# %% draw
out = (generator(3).normal(size=3) * scale).tolist()
# %% change
scale = 2.0
