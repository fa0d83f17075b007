"""The cell shuffles an array that it finds shuffled by its earlier run: two causes.

run: setup q q
ask: q
probe: out
changed: yes
expect: rng numpy 2
expect: input idx 2
"""
# %% setup
import numpy as np
np.random.seed(0)
idx = np.arange(20)
# %% q
np.random.shuffle(idx)
out = idx[:5].tolist()
