"""Two inputs changed, and one acts only on what came out the same.

run: data limit stats data@2 limit@2 stats
ask: stats
probe: total
changed: yes
expect: input data
innocent: input limit
"""
# %% data
import numpy as np
data = np.arange(10.0)
# %% data@2
import numpy as np
data = np.arange(10.0) * 2
# %% limit
limit = 100
# %% limit@2
limit = 200
# %% stats
total = data.sum()
many = len(data) > limit
