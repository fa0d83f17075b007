"""To reset an environment does not seed its generator again.

run: setup roll roll
ask: roll
probe: total
changed: yes
expect: rng env.rng 2
"""
# %% setup
import numpy as np
class Env:
    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)
        self.reset()
    def reset(self): self.x = 0.0
    def step(self, a):
        self.x += a + self.rng.normal()
        return self.x
env = Env(0)
# %% roll
env.reset()
total = sum(env.step(0.1) for _ in range(5))
