"""A dictionary got a key that the cell does not look up; the noise is what changed.

run: setup q more q
ask: q
probe: out
changed: yes
expect: rng numpy
"""
# %% setup
import numpy as np
np.random.seed(1)
prices = {"tea": 3, "milk": 2}
basket = ["tea", "tea", "milk"]
# %% q
out = sum(prices[each] for each in basket) + np.random.rand()
# %% more
prices["bread"] = 4
