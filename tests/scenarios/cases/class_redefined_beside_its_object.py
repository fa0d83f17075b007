"""A class was defined again, and the object is still of the old one: what moved is the source.

run: setup q other q
ask: q
probe: out
changed: yes
expect: rng python 2
"""
# %% setup
import random
random.seed(0)
class DS:
    def get(self): return 1
ds = DS()
# %% q
out = ds.get() + random.random()
# %% other
class DS:
    def get(self): return 5
