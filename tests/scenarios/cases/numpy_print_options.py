"""numpy prints with fewer digits since another cell.

run: setup use opt use
ask: use
probe: s
changed: yes
expect: flag numpy.set_printoptions 3
"""
# %% setup
import numpy as np
a = np.array([1/3, 2/3])
# %% use
s = str(a)
print(a)
# %% opt
np.set_printoptions(precision=3)
