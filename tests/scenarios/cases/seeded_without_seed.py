"""The cell seeds numpy with nothing, which asks the system.

run: setup draw draw
ask: draw
probe: out
changed: yes
expect: entropy numpy.random.seed
allow: rng numpy
"""
# %% setup
import numpy as np
# %% draw
np.random.seed()
out = np.random.rand(2).tolist()
