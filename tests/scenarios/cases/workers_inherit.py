"""Forked workers draw from the state of numpy that they inherit, which another cell moved.

run: setup q other q
ask: q
probe: out
changed: yes
expect: rng numpy 3
"""
# %% setup
import multiprocessing
import numpy as np
np.random.seed(0)
def draw(i):
    return float(np.random.rand()) + i
pools = multiprocessing.get_context("fork")
# %% q
with pools.Pool(2) as pool:
    out = pool.map(draw, range(1))
# %% other
noise = np.random.rand(5)
