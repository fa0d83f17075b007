"""An edit acts only on what came out the same, and an input changed.

run: data stats data@2 stats@2
ask: stats
probe: total
changed: yes
expect: input data
innocent: code stats
"""
# %% data
import numpy as np
data = np.arange(10.0)
# %% data@2
import numpy as np
data = np.arange(10.0) * 2
# %% stats
total = data.sum()
many = len(data) > 100
# %% stats@2
total = data.sum()
many = len(data) > 200
