"""A function of Python's own was replaced by another library's of the same name.

run: setup use sh use
ask: use
probe: res
changed: yes
expect: input sum 3
"""
# %% setup
import numpy as np
a = np.arange(6).reshape(2, 3)
# %% use
res = repr(sum(a))
# %% sh
from numpy import sum
