"""Another method shows what was worked out so far.

run: setup q other q
ask: q
probe: n
changed: yes
expect: input d 3
"""
# %% setup
class Data:
    def __init__(self, n):
        self.n = n
        self._total = None
    def total(self):
        if self._total is None:
            self._total = sum(range(self.n))
        return self._total
    def summary(self):
        return f"{self.n} {self._total}"
d = Data(5)
# %% q
n = d.summary()
# %% other
print(d.total())
