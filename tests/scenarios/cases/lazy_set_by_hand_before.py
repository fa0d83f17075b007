"""A cell set by hand what is else worked out, before it was.

run: setup q byhand ins q
ask: q
probe: n
changed: yes
expect: input d 3
allow: input which
"""
# %% setup
class Data:
    def __init__(self, n):
        self.n = n
        self._total = None
        self._mean = None
    def total(self):
        if self._total is None:
            self._total = sum(range(self.n))
        return self._total
    def mean(self):
        if self._mean is None:
            self._mean = 0.5
        return self._mean
d = Data(5)
which = "mean"
# %% q
n = d.total() if which == "total" else d.mean()
# %% byhand
d._total = 1
# %% ins
which = "total"
