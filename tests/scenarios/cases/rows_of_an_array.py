"""The cell reads the first rows of an array; a later row changed, and so did an offset.

run: setup use change use
ask: use
probe: out
changed: yes
expect: input offset 3
innocent: input X
"""
# %% setup
import numpy as np
X = np.arange(200.0).reshape(100, 2)
offset = 0
# %% use
out = (X[:40] + offset).sum()
# %% change
X[80] = 99
offset = 1
