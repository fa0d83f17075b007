"""An attribute filled at first use; k was edited.

run: setup q ins q
ask: q
probe: n
changed: yes
expect: input k 3
innocent: input d
"""
# %% setup
class Data:
    def __init__(self, n):
        self.n = n
        self._total = None
    @property
    def total(self):
        if self._total is None:
            self._total = sum(range(self.n))
        return self._total
d = Data(5)
k = 2
# %% q
n = d.total * k
# %% ins
k = 3
