"""A lazily made list grows at each call.

run: setup q q
ask: q
probe: n
changed: yes
expect: input d 2
"""
# %% setup
class Data:
    def __init__(self):
        self._rows = None
    def rows(self):
        if self._rows is None:
            self._rows = [1, 2]
        self._rows.append(len(self._rows))
        return self._rows
d = Data()
# %% q
n = len(d.rows())
