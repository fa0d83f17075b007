"""Two generators are made without a seed, and only one is put into a kept state.

run: setup q q
ask: q
probe: out
changed: yes
expect: entropy numpy.random.RandomState
"""
# %% setup
import numpy as np
start = np.random.RandomState(1).get_state()
r = np.random.RandomState(1)
# %% q
other = np.random.RandomState()
r.set_state(start)
out = r.rand() + other.rand()
