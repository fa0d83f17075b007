"""A transform deep inside the stream holds a generator that moved on.

run: setup epoch epoch
ask: epoch
probe: batch
changed: yes
expect: input stream or rng stream.data
"""
# %% setup
import numpy as np
class Noise:
    def __init__(self):
        self.rng = np.random.default_rng(0)
class Data:
    def __init__(self, transform):
        self.transform = transform
class Stream:
    def __init__(self, data):
        self.data = data
    def take(self, n):
        return [i + self.data.transform.rng.normal() for i in range(n)]
stream = Stream(Data(Noise()))
# %% epoch
batch = stream.take(4)
