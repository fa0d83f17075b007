"""A model of a library in C is known by a handle, which is another at each fit: the data changed.

run: imports data fit predict data@2 fit predict
ask: predict
probe: found
changed: yes
expect: input data 5
"""
# %% imports
import ctypes
class Booster:
    def __init__(self, rounds):
        self.rounds = rounds
        self.memory = ctypes.create_string_buffer(b"trees")
        self.handle = ctypes.c_void_p(ctypes.addressof(self.memory))
    def predict(self, rows):
        return [self.rounds * each for each in rows]
# %% data
data = [1.0, 2.0]
# %% data@2
data = [1.0, 3.0]
# %% fit
model = Booster(3)
# %% predict
found = model.predict(data)
