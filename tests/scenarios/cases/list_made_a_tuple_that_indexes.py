"""A list of places became a tuple, by which an array is indexed otherwise, and a factor changed.

run: setup take change take
ask: take
probe: taken
changed: yes
expect: input places 3
expect: input factor 3
"""
# %% setup
import numpy as np
table = np.arange(9).reshape(3, 3)
places, factor = [1, 2], 1
# %% take
taken = table[places].sum() * factor
print(taken)
# %% change
places, factor = (1, 2), 3
