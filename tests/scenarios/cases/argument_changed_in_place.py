"""A function of another cell changes its argument in place.

run: setup peak center peak
ask: peak
probe: top
changed: yes
expect: input signal 3
"""
# %% setup
import numpy as np
signal = np.array([1.0, 5.0, 3.0])
def centered(x):
    x -= x.mean()
    return x
# %% peak
top = signal.max().item()
# %% center
flat = centered(signal)
