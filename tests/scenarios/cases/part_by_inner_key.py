"""The cell reads an item of a dictionary in a dictionary; another one of it changed.

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
cfg = {"train": {"n": 3, "lr": 0.1}, "data": {"n": 2}}
# %% use
out = np.random.rand(cfg["train"]["n"], cfg["data"]["n"]).tolist()
# %% other
cfg["train"]["lr"] = 0.5
