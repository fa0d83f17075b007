"""A cell counts its runs and draws from an unseeded generator: the counter explains nothing.

run: setup draw draw
ask: draw
probe: value
changed: yes
expect: entropy numpy.random.default_rng
first: entropy numpy.random.default_rng
allow: input tries
"""
# %% setup
import numpy as np
tries = 0
# %% draw
tries += 1
value = np.random.default_rng().random()
print(value)
