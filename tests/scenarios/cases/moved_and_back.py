"""A value was changed and set back before the second run.

run: setup use edit back use
ask: use
probe: out
changed: no
"""
# %% setup
import numpy as np
w = np.ones(3)
# %% use
out = float((w * 2).sum())
# %% edit
w += 1
# %% back
w -= 1
