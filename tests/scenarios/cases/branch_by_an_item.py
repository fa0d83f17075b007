"""An item of the settings decides on a branch, an attribute on another: neither runs.

run: setup go change go
ask: go
probe: out
changed: yes
expect: input data 3
"""
# %% setup
from types import SimpleNamespace

data = [1, 2, 3]
settings = {"optimizer": "sgd", "depth": 2}
options = SimpleNamespace(warm_up=False)
decay, warm = 0.1, 5
# %% go
out = sum(data)
if settings["optimizer"] == "adam":
    out *= decay
out = out + warm if options.warm_up else out
# %% change
data.append(4)
decay, warm = 0.2, 7
