"""The cell seeds from the hash of a name, which is another after a restart.

run: setup draw !restart setup draw
ask: draw
probe: value
changed: yes
expect: environment PYTHONHASHSEED
innocent: rng python
kernel: cold
"""
# %% setup
import random

name = "experiment"
# %% draw
random.seed(hash(name))
value = random.random()
