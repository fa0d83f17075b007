"""A generator without a seed is in an object, which is put into a state that is not its own.

run: setup q q
ask: q
probe: out
changed: yes
expect: entropy numpy.random.RandomState
"""
# %% setup
import numpy as np
start = np.random.RandomState(1).get_state()
class Noise:
    def __init__(self, rng):
        self.rng = rng
    def set_state(self, state):
        self.state = state
# %% q
noise = Noise(np.random.RandomState())
noise.set_state(start)
out = noise.rng.rand()
