"""Every cell begins with its own numbers, whatever ran before.

run: setup each draw noise draw
ask: draw
probe: out
changed: no
needs: ipytorchseed
"""
# %% setup
import random
import numpy as np
# %% each
%seed each 7
# %% draw
out = np.random.rand(3).tolist(), random.random()
# %% noise
np.random.rand(5), random.random();
