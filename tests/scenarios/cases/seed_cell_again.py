"""The seeding cell was run before the second run, as before the first.

run: setup seed draw noise seed draw
ask: draw
probe: out
changed: no
"""
# %% setup
import random
import numpy as np
# %% seed
random.seed(0)
np.random.seed(0)
# %% draw
out = np.random.rand(3).tolist(), random.random()
# %% noise
np.random.rand(5), random.random();
