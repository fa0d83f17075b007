"""Another cell drew from a generator that lies deep in an object.

run: setup q other q
ask: q
probe: out
changed: yes
expect: input stream 2 3 or rng stream 2 3
"""
# %% setup
import numpy as np
class Noise:
    def __init__(self):
        self.inner = {"deep": [{"rng": np.random.default_rng(0)}]}
    def draw(self):
        return float(self.inner["deep"][0]["rng"].normal())
class Data:
    def __init__(self):
        self.noise = {"a": {"b": {"c": Noise()}}}
stream = Data()
# %% q
out = stream.noise["a"]["b"]["c"].draw()
# %% other
warm = [stream.noise["a"]["b"]["c"].draw() for i in range(3)]
