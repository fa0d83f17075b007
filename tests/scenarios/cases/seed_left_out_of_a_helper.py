"""A helper hands its seed on, and the cell gives it none.

run: setup noise noise
ask: noise
probe: out
changed: yes
expect: entropy numpy.random.default_rng
"""
# %% setup
import numpy as np
def noisy(values, scale=1.0, seed=None):
    rng = np.random.default_rng(seed)
    return values + scale * rng.normal(size=len(values))
values = np.arange(3.0)
# %% noise
out = noisy(values).tolist()
