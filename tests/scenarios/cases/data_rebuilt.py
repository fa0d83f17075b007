"""The data cell was run again and made equal data.

run: data add data add
ask: add
probe: total
changed: no
"""
# %% data
import numpy as np
data = np.arange(6).reshape(2, 3)
rows = [{"id": i} for i in range(3)]
# %% add
total = int(data.sum()) + len(rows)
