"""A library's function is given a seed; what changed comes from elsewhere.

run: setup draw draw
ask: draw
probe: out
changed: yes
expect: rng numpy
"""
# %% setup
import numpy as np
from scipy.stats import qmc
np.random.seed(0)
# %% draw
sampler = qmc.LatinHypercube(d=2, seed=3)
out = (sampler.random(3) + np.random.rand(3, 2)).tolist()
