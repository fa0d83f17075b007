"""A kept result is dropped and worked out again, as it was; the noise is what changed.

run: cls use drop use
ask: use
probe: z
changed: yes
expect: rng numpy
"""
# %% cls
from functools import cached_property
import numpy as np
np.random.seed(0)
class Data:
    def __init__(self, values):
        self.values = values
    @cached_property
    def mean(self):
        return sum(self.values) / len(self.values)
ds = Data([1.0, 2.0, 6.0])
ds.mean
# %% use
z = [x - ds.mean for x in (1.0, 5.0)] + [np.random.rand()]
# %% drop
del ds.mean
