"""Another cell read a cached property, a second one a property with a cache that it wrote.

run: setup q other ins q
ask: q
probe: n
changed: yes
expect: input k 4
"""
# %% setup
from functools import cached_property
class Data:
    def __init__(self, n):
        self.n = n
        self._cache = {}
    @cached_property
    def total(self): return sum(range(self.n))
    @property
    def mean(self): return self._cache.setdefault("mean", self.total / self.n)
d = Data(5)
k = 2
# %% q
n = d.n * k
# %% other
print(d.total, d.mean)
# %% ins
k = 3
