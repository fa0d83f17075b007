"""A table is made at its first use, and another method reads it; the threshold was edited.

run: setup q ins q
ask: q
probe: n
changed: yes
expect: input limit 3
innocent: input data
"""
# %% setup
import pandas as pd
class Data:
    def __init__(self, rows):
        self.rows = rows
        self._frame = None
    @property
    def frame(self):
        if self._frame is None:
            self._frame = pd.DataFrame({"x": range(self.rows)})
        return self._frame
    def above(self, limit):
        return int((self.frame.x > limit).sum())
data = Data(10)
limit = 3
# %% q
n = data.above(limit)
# %% ins
limit = 5
