"""An estimator makes its generator of a seed that no one set.

run: setup fit fit
ask: fit
probe: out
changed: yes
expect: entropy numpy.random.RandomState
"""
# %% setup
import numpy as np
class Bootstrap:
    def __init__(self, rounds=5, random_state=None):
        self.rounds, self.random_state = rounds, random_state
    def fit(self, values):
        rng = np.random.RandomState(self.random_state)
        means = [rng.choice(values, len(values)).mean() for _ in range(self.rounds)]
        self.mean_ = float(np.mean(means))
        return self
values = np.sqrt(np.arange(101.0))
# %% fit
out = Bootstrap().fit(values).mean_
