"""An array is shown with fewer digits since another cell: it holds the same numbers.

run: setup show set show
ask: show
probe: repr(a)
changed: yes
expect: flag numpy.set_printoptions 3
"""
# %% setup
import numpy as np

a = np.ones(2) / 3
# %% show
a
# %% set
np.set_printoptions(precision=3)
