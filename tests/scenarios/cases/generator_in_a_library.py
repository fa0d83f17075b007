"""A library's function makes a generator without a seed: nothing in the cell says so.

run: setup draw draw
ask: draw
probe: out
changed: yes
expect: entropy scipy.stats.qmc.LatinHypercube
"""
# %% setup
import numpy as np
from scipy.stats import qmc
# %% draw
sampler = qmc.LatinHypercube(d=2)
out = sampler.random(3).tolist()
