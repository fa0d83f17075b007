"""The dataset holds its own numpy generator.

run: setup epoch peek epoch
ask: epoch
probe: seen
changed: yes
expect: rng ds.rng 2 3
"""
# %% setup
import numpy as np
class Jitter:
    def __init__(self):
        self.rng = np.random.default_rng(1)
    def __getitem__(self, i):
        return i + self.rng.normal()
ds = Jitter()
# %% epoch
seen = [ds[i] for i in range(4)]
# %% peek
ds[0]
