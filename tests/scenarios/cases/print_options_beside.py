"""How arrays are printed changed, and no array is printed: what is drawn differs.

run: setup q ins q
ask: q
probe: n
changed: yes
expect: rng numpy 2
innocent: flag numpy.set_printoptions
"""
# %% setup
import numpy as np
np.random.seed(0)
# %% q
n = np.random.rand(3).tolist()
# %% ins
np.set_printoptions(precision=3)
