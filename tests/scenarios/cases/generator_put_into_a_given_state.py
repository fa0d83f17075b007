"""A generator is made without a seed and put into a kept state at once; a factor was set.

run: setup q change q
ask: q
probe: out
changed: yes
expect: input scale 3
"""
# %% setup
import numpy as np
start = np.random.RandomState(1).get_state()
scale = 1
# %% q
r = np.random.RandomState()
r.set_state(start)
out = r.rand() * scale
# %% change
scale = 2
