"""A function made again holds, as its argument's default, a generator that has no seed.

run: setup draw setup draw
ask: draw
probe: out
changed: yes
expect: input draw_one 3
says: In[3] made it again
"""
# %% setup
import numpy as np
def draw_one(rng=np.random.default_rng()):
    return rng.normal()
# %% draw
out = draw_one()
