"""The attribute and the key that the cell reads are those that changed.

run: setup use other use
ask: use
probe: out
changed: yes
expect: input cfg 3
expect: input params 3
"""
# %% setup
from types import SimpleNamespace
cfg = SimpleNamespace(batch=4, lr=0.1)
params = {"n": 3, "name": "a"}
# %% use
out = cfg.batch * 10 + params["n"]
# %% other
cfg.batch = 5
params["n"] = 7
