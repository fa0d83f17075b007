"""np.random.shuffle is replaced by random.shuffle.

run: setup mix patch mix
ask: mix
probe: deck
changed: yes
expect: input numpy.random.shuffle 3
innocent: rng numpy
"""
# %% setup
import random
import numpy as np
# %% mix
np.random.seed(1)
random.seed(1)
deck = list(range(12))
np.random.shuffle(deck)
# %% patch
np.random.shuffle = random.shuffle
