"""A cell counts its runs in an object and starts workers, whose streams start differently.

run: setup draw draw
ask: draw
probe: value
changed: yes
needs: joblib
expect: operation joblib.Parallel
first: operation joblib.Parallel
allow: input log
"""
# %% setup
import numpy as np
from joblib import Parallel, delayed

class Log:
    runs = 0

log = Log()

def one(_):
    return np.random.normal()
# %% draw
log.runs += 1
value = float(np.mean(Parallel(n_jobs=2)(delayed(one)(n) for n in range(4))))
print(value)
