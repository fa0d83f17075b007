"""Both runs follow the same seed and the same setup; only one further cell drew in between.

run: seed weights ask seed weights extra ask
ask: ask
probe: noise
changed: yes
expect: rng python 6
says: took 2 numbers from Python's random stream between the seed and this cell
"""
# %% seed
import random
random.seed(0)
# %% weights
weights = [random.random() for _ in range(3)]
# %% extra
random.random()
# %% ask
noise = random.random()
