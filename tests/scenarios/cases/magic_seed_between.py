"""A magic of ours seeded every source between the two runs.

run: setup draw seed draw
ask: draw
probe: out
changed: yes
expect: rng numpy 3
needs: ipytorchseed
"""
# %% setup
import numpy as np
np.random.seed(0)
# %% draw
out = np.random.rand(3).tolist()
# %% seed
%seed 42
