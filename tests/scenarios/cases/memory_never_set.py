"""A helper leaves half of an array as the memory was.

run: setup total other total
ask: total
probe: s
changed: yes
expect: entropy numpy.empty
"""
# %% setup
import numpy as np
def window():
    made = np.empty(100, dtype=np.int64)
    made[:50] = 1
    return made
# %% total
s = int(window().sum())
# %% other
junk = [np.full(100, 7) for _ in range(9)]
del junk
