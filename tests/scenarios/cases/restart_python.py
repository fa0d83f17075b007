"""After the restart no one seeded python's source.

run: setup seed draw !restart setup draw
ask: draw
probe: out
changed: yes
expect: rng python
"""
# %% setup
import random
# %% seed
random.seed(0)
# %% draw
out = [random.random() for _ in range(3)]
