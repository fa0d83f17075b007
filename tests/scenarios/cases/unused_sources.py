"""Other sources moved; the cell makes its own generator.

run: setup draw noise draw
ask: draw
probe: out.tolist()
changed: no
"""
# %% setup
import random
import numpy as np
data = np.arange(5)
# %% draw
own = np.random.default_rng(0)
out = own.permutation(data)
# %% noise
a, b = np.random.rand(3), random.random()
