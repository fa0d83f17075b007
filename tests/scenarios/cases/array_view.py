"""A view of the array was changed, under another name.

run: setup mean scale mean
ask: mean
probe: average
changed: yes
expect: input data 3
"""
# %% setup
import numpy as np
data = np.arange(10.0)
even = data[::2]
# %% mean
average = float(data.mean())
# %% scale
even *= 100
