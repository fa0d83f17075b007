"""A helper in a file of one's own draws from a generator of that file.

run: file import draw other draw
ask: draw
probe: noise
changed: yes
expect: rng noises.rng 3 4
"""
# %% file
%%writefile noises.py
import numpy as np
rng = np.random.default_rng(4)
def noise(n):
    return rng.normal(size=n).tolist()
# %% import
import sys
sys.path.insert(0, ".")
from noises import noise as make
# %% draw
noise = make(3)
# %% other
_ = make(1)
