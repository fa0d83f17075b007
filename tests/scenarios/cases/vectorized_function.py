"""A function that numpy calls for each number reads a table; an item was set.

run: setup make score change score
ask: score
probe: total
changed: yes
expect: input limits 4
"""
# %% setup
import numpy as np
limits = {"a": 1.0, "b": 2.0}
def above(x):
    return max(x - limits["a"], 0.0)
# %% make
rate = np.vectorize(above)
# %% score
total = rate(np.arange(4.0)).sum().item()
# %% change
limits["a"] = 1.5
