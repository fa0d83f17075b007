"""A model of a library in C was made again with another setting, and fitted, in cells apart.

run: imports data make fit predict make@2 fit predict
ask: predict
probe: found
changed: yes
expect: input model 6
back: complete
"""
# %% imports
import ctypes
class Booster:
    def __init__(self, rounds):
        self.rounds = rounds
    def fit(self, rows):
        self.memory = ctypes.create_string_buffer(b"trees")
        self.handle = ctypes.c_void_p(ctypes.addressof(self.memory))
        self.mean = sum(rows) / self.rounds
    def predict(self, rows):
        return [self.mean * each for each in rows]
# %% data
data = [1.0, 2.0]
# %% make
model = Booster(3)
# %% make@2
model = Booster(4)
# %% fit
model.fit(data)
# %% predict
found = model.predict(data)
