"""Another function's defaults grew, which the cell does not call; a source moved.

run: setup q other q
ask: q
probe: out
changed: yes
expect: rng python 2
"""
# %% setup
import random
random.seed(0)
def keep(x, seen=[]):
    seen.append(x)
    return x
# %% q
out = random.random()
# %% other
kept = keep(3)
