"""A generator is seeded by the clock, and the data were changed.

run: setup score add score
ask: score
probe: out
changed: yes
expect: input data 3
expect: entropy time.time_ns
"""
# %% setup
import random
import time
data = [1.0, 2.0]
# %% score
rng = random.Random(time.time_ns())
out = sum(data) + rng.random()
# %% add
data.append(3.0)
