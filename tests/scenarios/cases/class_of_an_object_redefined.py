"""A class was redefined, and the object is of the old one: the same result, and nothing to say.

run: make_class make use make_class@2 use
ask: use
probe: scaled.tolist()
changed: no
"""
# %% make_class
import numpy as np
class Scaler:
    def fit(self, values):
        self.mean = values.mean()
        return self
    def transform(self, values):
        return values - self.mean
# %% make_class@2
import numpy as np
class Scaler:
    def fit(self, values):
        self.mean = values.mean()
        return self
    def transform(self, values):
        return values - self.mean + 1
# %% make
values = np.arange(6.0)
scaler = Scaler().fit(values)
# %% use
scaled = scaler.transform(values)
