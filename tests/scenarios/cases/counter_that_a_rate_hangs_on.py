"""A counter of runs goes into the rate: it is no mere counter.

run: setup step step
ask: step
probe: w
changed: yes
expect: input n_runs 2
allow: input w
"""
# %% setup
import numpy as np

a = np.arange(5.0)
n_runs, w = 0, 1.0
# %% step
n_runs += 1
w = w - 0.1 / n_runs * float(a.mean())
print(w)
