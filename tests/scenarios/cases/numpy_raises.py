"""numpy raises where it warned, since another cell.

run: setup q ins q
ask: q
probe: n
changed: yes
expect: flag numpy.seterr 3
"""
# %% setup
import numpy as np
a = np.array([1.0, 0.0])
n = None
# %% q
n = "bad"
n = repr(a / 0)
# %% ins
_ = np.seterr(all="raise")
