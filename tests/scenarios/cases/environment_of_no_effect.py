"""A cell changed a variable of the environment that the compared cell's libraries do not read.

run: imports mean set more mean
ask: mean
probe: out
changed: yes
first: input data
expect: input data 4
innocent: environment LOG_LEVEL
"""
# %% imports
import os
import numpy as np
data = np.arange(4.0)
# %% mean
out = np.mean(data)
# %% set
os.environ.update({"LOG_LEVEL": "debug"})
# %% more
data = np.arange(6.0)
