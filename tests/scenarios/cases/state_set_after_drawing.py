"""A cell draws, and sets the state of the library's source at its end: another cell drew before.

run: setup batch other batch
ask: batch
probe: batch.tolist()
changed: yes
expect: rng numpy 3
"""
# %% setup
import numpy as np
np.random.seed(3)
kept = np.random.get_state()
# %% batch
batch = np.random.normal(size=3)
np.random.set_state(kept)
# %% other
order = np.random.permutation(4)
