"""The seeding cell was run again with another seed.

run: setup seed draw seed@2 draw
ask: draw
probe: out
changed: yes
expect: rng numpy 4
"""
# %% setup
import numpy as np
# %% seed
np.random.seed(0)
# %% seed@2
np.random.seed(1)
# %% draw
out = np.random.rand(3).tolist()
