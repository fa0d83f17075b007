"""A cell under a timing magic draws on.

run: setup seed draw draw
ask: draw
probe: out
changed: yes
expect: rng numpy 3
"""
# %% setup
import numpy as np
# %% seed
np.random.seed(0)
# %% draw
%%time
out = np.random.rand(3).tolist()
