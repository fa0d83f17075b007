"""Forked workers draw nothing; numpy's source moved and the data were changed.

run: setup q other q
ask: q
probe: out
changed: yes
expect: input data 3
innocent: rng numpy
"""
# %% setup
import multiprocessing
import numpy as np
np.random.seed(0)
data = [1, 2]
def double(i):
    return 2 * i
pools = multiprocessing.get_context("fork")
# %% q
with pools.Pool(2) as pool:
    out = pool.map(double, data)
# %% other
data.append(3)
noise = np.random.rand(5)
