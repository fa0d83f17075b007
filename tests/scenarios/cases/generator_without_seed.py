"""The cell makes a generator without a seed.

run: setup draw draw
ask: draw
probe: out
changed: yes
expect: entropy numpy.random.default_rng
"""
# %% setup
import numpy as np
# %% draw
rng = np.random.default_rng()
out = rng.normal(size=3).tolist()
