"""A cell asks how numpy treats a division by zero, which another cell set.

run: setup work strict work
ask: work
probe: fill
changed: yes
expect: flag numpy.seterr 3
"""
# %% setup
import numpy as np
# %% work
fill = 0.0 if np.geterr()["divide"] == "raise" else 1.0
# %% strict
np.seterr(divide="raise")
