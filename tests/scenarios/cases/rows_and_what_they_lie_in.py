"""The cell gets from some rows of an array to all of it; another row changed.

run: setup use change use
ask: use
probe: out
changed: yes
expect: input X 3
"""
# %% setup
import numpy as np
X = np.arange(20.0)
# %% use
out = X[:3].base.sum()
# %% change
X[9] = 77
