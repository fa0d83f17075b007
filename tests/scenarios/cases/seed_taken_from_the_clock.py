"""A cell before it kept the clock as the seed: no cell that runs again makes it so.

run: setup seed draw seed draw
ask: draw
probe: out
changed: yes
expect: input seed 4
allow: rng python
"""
# %% setup
import random, time
# %% seed
seed = time.time_ns()
# %% draw
random.seed(seed)
out = random.random()
