"""A helper seeds from the clock: where the source stood before does not count.

run: setup draw draw
ask: draw
probe: value
changed: yes
expect: entropy time.time_ns
innocent: rng python
"""
# %% setup
import random
import time


def start_anew():
    random.seed(time.time_ns())


# %% draw
start_anew()
value = random.random()
