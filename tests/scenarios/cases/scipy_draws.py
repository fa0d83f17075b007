"""scipy draws from numpy's source.

run: setup seed draw draw
ask: draw
probe: out
changed: yes
expect: rng numpy 3
"""
# %% setup
import numpy as np
from scipy import stats
# %% seed
np.random.seed(0)
# %% draw
out = stats.norm.rvs(size=3).tolist()
