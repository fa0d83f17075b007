"""The values of a dataset were changed and the cached mean deleted.

run: cls make use edit use drop use
ask: use
probe: z
changed: yes
expect: input ds
"""
# %% cls
from functools import cached_property
class Data:
    def __init__(self, values):
        self.values = values
    @cached_property
    def mean(self):
        return sum(self.values) / len(self.values)
# %% make
ds = Data([1.0, 2.0, 6.0])
# %% use
z = [x - ds.mean for x in (1.0, 5.0)]
z
# %% edit
ds.values.append(100.0)
# %% drop
del ds.mean
