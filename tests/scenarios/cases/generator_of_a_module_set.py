"""Another cell gave a distribution of SciPy's its own generator, so numpy's seed no longer counts.

run: setup draw set draw
ask: draw
probe: out
changed: yes
expect: flag scipy.stats.norm.random_state 3
says: In[3] set `scipy.stats.norm.random_state`, and this cell also uses scipy
innocent: rng numpy
"""
# %% setup
import numpy as np
from scipy import stats

def draw(count):
    return stats.norm.rvs(size=count).mean()
# %% draw
np.random.seed(123)
out = draw(50)
# %% set
stats.norm.random_state = np.random.RandomState(1)
