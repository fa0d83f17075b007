"""An object's own dictionary of results; k was edited.

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
        self._cache = {}
    def power(self, e):
        if e not in self._cache:
            self._cache[e] = self.n ** e
        return self._cache[e]
d = Data(5)
k = 2
# %% q
n = [d.power(e) * k for e in range(4)]
# %% ins
k = 3
