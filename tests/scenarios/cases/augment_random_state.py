"""A function augments with a RandomState that the notebook holds.

run: setup augment augment
ask: augment
probe: out.tolist()
changed: yes
expect: rng rs 2
"""
# %% setup
import numpy as np
rs = np.random.RandomState(0)
def jitter(x):
    return x + rs.uniform(size=x.shape)
x = np.arange(4.0)
# %% augment
out = jitter(x)
