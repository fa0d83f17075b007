"""Another cell put an array's numbers into memory column by column: the sum is rounded otherwise.

run: setup q other q
ask: q
probe: out
changed: yes
expect: input a 3
says: in another order in memory
"""
# %% setup
import numpy as np
a = np.random.default_rng(0).random((700, 900), dtype="float32")
# %% q
out = float(a.sum(axis=0).sum())
# %% other
a = np.asfortranarray(a)
