"""A cell puts its generator back once it has drawn, not before: another cell drew in between.

run: setup batch other batch
ask: batch
probe: batch.tolist()
changed: yes
expect: rng g 3
"""
# %% setup
import numpy as np
g = np.random.default_rng(7)
began = g.bit_generator.state
# %% batch
batch = np.zeros((2, 2)) + g.normal(0, 0.1, (2, 2))
g.bit_generator.state = began
# %% other
order = g.permutation(4)
