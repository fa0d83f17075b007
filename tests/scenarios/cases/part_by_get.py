"""The cell asks a dictionary for one key with a default; another key changed.

run: setup use other use
ask: use
probe: out
changed: yes
expect: rng numpy 2
innocent: input cfg
"""
# %% setup
import numpy as np
np.random.seed(0)
cfg = {"n": 3, "lr": 0.1}
# %% use
n = cfg.get("n", 5)
out = np.random.rand(n).tolist()
# %% other
cfg["lr"] = 0.5
