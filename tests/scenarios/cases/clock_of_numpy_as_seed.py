"""The clock seeds python's source, as numpy tells it.

run: setup draw wait draw
ask: draw
probe: x
changed: yes
expect: entropy numpy.datetime64
innocent: rng python
"""
# %% wait
import time
time.sleep(1.1)
# %% setup
import random
import numpy as np
# %% draw
random.seed(int(np.datetime64("now").astype("int64")))
x = random.random()
print(x)
