"""A function of a package was replaced, which the cell calls by its module's name.

run: setup q p q
ask: q
probe: n
changed: yes
expect: input numpy.mean 3
"""
# %% setup
import numpy as np
# %% q
n = float(np.mean([1, 2, 6]))
# %% p
np.mean = lambda x: 0.0
