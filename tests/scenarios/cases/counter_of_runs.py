"""A counter of runs goes up in the cell and is used nowhere; the data was shifted.

run: setup mean shift mean
ask: mean
probe: m
changed: yes
expect: input a 3
innocent: input n_runs
"""
# %% setup
import numpy as np
a = np.arange(5.0)
n_runs = 0
# %% mean
n_runs += 1
m = float(a.mean())
print(m)
# %% shift
a += 2
