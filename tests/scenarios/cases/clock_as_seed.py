"""The cell seeds python's source from the clock.

run: setup draw draw
ask: draw
probe: out
changed: yes
expect: entropy time.time
innocent: rng python
"""
# %% setup
import random
from time import time
# %% draw
random.seed(time())
out = random.random()
