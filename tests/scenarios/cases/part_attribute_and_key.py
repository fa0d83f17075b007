"""Another attribute, another key and another attribute of a class changed: the cell reads none.

run: setup use other use
ask: use
probe: out
changed: yes
expect: rng numpy 2
innocent: input cfg
innocent: input params
innocent: input CFG
"""
# %% setup
from types import SimpleNamespace
import numpy as np
np.random.seed(0)
cfg = SimpleNamespace(batch=4, lr=0.1)
params = {"n": 3, "name": "a"}
class CFG:
    size = 2
    lr = 0.1
# %% use
out = [float(np.random.rand()) for _ in range(cfg.batch + params["n"] + CFG.size)]
# %% other
cfg.lr = 0.5
params["name"] = "b"
CFG.lr = 0.3
