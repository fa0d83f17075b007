"""The cell takes a salt from the system and a number from a source that moved on.

run: setup draw draw
ask: draw
probe: out
changed: yes
expect: rng numpy 2
expect: entropy os.urandom
"""
# %% setup
import os
import numpy as np
np.random.seed(0)
# %% draw
out = np.random.rand() + os.urandom(1)[0]
