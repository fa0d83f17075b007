"""numpy's source moved too, but the cell only multiplies.

run: setup compute noise compute
ask: compute
probe: out.tolist()
changed: yes
expect: input scale 3
innocent: rng python
"""
# %% setup
import random
import numpy as np
data, scale = np.arange(5), 2
# %% compute
out = np.sqrt(data) * scale
# %% noise
np.random.seed(3)
random.seed(3)
scale = 2 + int(np.random.randint(1, 9))
