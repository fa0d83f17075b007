"""No one seeded numpy, and the first run was the first to draw from it.

run: setup draw draw
ask: draw
probe: out
changed: yes
expect: rng numpy 2
"""
# %% setup
import numpy as np
# %% draw
out = np.random.rand(3).tolist()
