"""A name that the cell sets before it reads it was used by others meanwhile.

run: setup loop other loop
ask: loop
probe: total
changed: no
"""
# %% setup
import numpy as np
rows = np.arange(6).reshape(3, 2)
# %% loop
total = 0
for i, row in enumerate(rows):
    total += i * int(row.sum())
# %% other
i, row, total = 100, "row", -1
