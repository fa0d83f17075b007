"""A generator spawns others in each run, by which its own state stays as it is.

run: setup use use
ask: use
probe: v
changed: yes
expect: input rng 2
"""
# %% setup
import numpy as np
rng = np.random.default_rng(1)
# %% use
children = rng.spawn(2)
v = [child.integers(1000) for child in children]
