"""A seed sequence gave seeds to children, as the cell itself does.

run: setup q q
ask: q
probe: out
changed: yes
expect: input seeds 2
"""
# %% setup
import numpy as np
seeds = np.random.SeedSequence(1)
# %% q
child = seeds.spawn(1)[0]
out = np.random.default_rng(child).random()
