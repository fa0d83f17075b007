"""A cached property was filled by the cell's own run, and another cell changed a factor.

run: setup q ins q
ask: q
probe: n
changed: yes
expect: input k 3
"""
# %% setup
from functools import cached_property
class Data:
    def __init__(self, n): self.n = n
    @cached_property
    def total(self): return sum(range(self.n))
d = Data(5)
k = 2
# %% q
n = d.total * k
# %% ins
k = 3
