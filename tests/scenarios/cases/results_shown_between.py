"""Other results were shown between the runs, and the cell reads none of them.

run: setup show use other show use
ask: use
probe: out
changed: yes
expect: rng numpy 3
"""
# %% setup
import numpy as np
np.random.seed(0)
# %% show
np.arange(3)
# %% other
1 + 1
# %% use
out = [np.random.rand() for _ in range(2)]
