"""The dataset augments with python's source, which the loader's other epoch moved.

run: setup seed epoch epoch
ask: epoch
probe: seen
changed: yes
expect: rng python 3
"""
# %% setup
import random
class Flips:
    def __init__(self, values):
        self.values = values
    def __len__(self):
        return len(self.values)
    def __getitem__(self, i):
        if i >= len(self):
            raise IndexError
        return -self.values[i] if random.random() < 0.5 else self.values[i]
ds = Flips(list(range(1, 30)))
# %% seed
random.seed(0)
# %% epoch
seen = [value for value in ds]
