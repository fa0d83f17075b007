"""A cell that measures time drew many numbers.

run: setup q other q
ask: q
probe: out
changed: yes
expect: rng numpy 3
"""
# %% setup
import numpy as np
np.random.seed(0)
# %% q
out = np.random.rand()
# %% other
%timeit -n 10 -r 2 np.random.rand(10)
