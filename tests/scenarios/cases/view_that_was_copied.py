"""A view of an array became a copy of the same numbers.

run: arrays fill arrays@2 fill
ask: fill
probe: total
changed: yes
expect: input head 3 or input values 3
says: or a view of it
"""
# %% arrays
import numpy as np

values = np.ones(4)
head = values[:2]
# %% arrays@2
import numpy as np

values = np.ones(4)
head = values[:2].copy()
# %% fill
head[:] = 5
total = values.sum()
