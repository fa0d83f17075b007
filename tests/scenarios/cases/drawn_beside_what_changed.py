"""The spread changed, which the cell prints; of what it draws it takes the length.

run: setup draw change draw
ask: draw
probe: noise
changed: yes
expect: rng numpy
expect: input bounds 3
"""
# %% setup
import numpy as np
np.random.seed(0)
bounds = (1.0, 2.0)
# %% draw
spread = bounds[1] / 2
print(f"spread {spread}")
noise = np.random.normal(size=100)
names = np.repeat("a", repeats=len(noise))
# %% change
bounds = (1.0, 2.5)
