"""The cell reads a result by its number; the source moved on in between.

run: setup show use noise use
ask: use
probe: out
changed: yes
expect: rng numpy 4
"""
# %% setup
import numpy as np
np.random.seed(0)
# %% show
[1.0, 2.0]
# %% use
out = sum(Out[2]) + np.random.rand()
# %% noise
_ = np.random.rand(3)
