"""A string is formatted from numbers that did not change, after sources moved.

run: setup report noise report
ask: report
probe: text
changed: no
"""
# %% setup
import random
import numpy as np
losses = np.array([0.5, 0.25, 0.125])
# %% report
text = f"best {losses.min():.3f} of {len(losses)}"
print(text)
# %% noise
losses_of_another_run = np.random.rand(3)
random.shuffle([1, 2, 3])
