"""All sources were restored before the second run.

run: setup save draw restore draw
ask: draw
probe: out
changed: no
needs: ipytorchseed
"""
# %% setup
import random
import numpy as np
np.random.seed(3)
# %% save
%seed save start
# %% draw
out = np.random.rand(3).tolist(), random.random()
# %% restore
%seed restore start
