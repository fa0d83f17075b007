"""A function kept by joblib.Memory answers from its cache; what acts is the factor.

run: setup use pick use
ask: use
probe: total
changed: yes
expect: input factor 3
"""
# %% setup
from joblib import Memory
import numpy as np
memory = Memory("mem_of_features", verbose=0)
@memory.cache
def features(n):
    return np.sqrt(np.arange(n))
factor = 1.0
# %% use
total = float(features(50).sum()) * factor
total
# %% pick
factor = 2.0
