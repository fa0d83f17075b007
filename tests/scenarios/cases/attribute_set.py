"""An attribute deep in the configuration was set.

run: setup size edit size
ask: size
probe: parameters
changed: yes
expect: input cfg 3
"""
# %% setup
from types import SimpleNamespace
cfg = SimpleNamespace(model=SimpleNamespace(dim=4, layers=2), name="tiny")
# %% size
parameters = cfg.model.layers * cfg.model.dim ** 2
# %% edit
cfg.model.dim = 8
