"""A generator is made of the system's entropy, and draws before its state is set.

run: setup use use
ask: use
probe: out
changed: yes
expect: entropy numpy.random.default_rng
"""
# %% setup
import numpy as np
state = np.random.default_rng(3).bit_generator.state
# %% use
rng = np.random.default_rng()
noise = rng.random()
rng.bit_generator.state = state
out = noise + rng.random()
