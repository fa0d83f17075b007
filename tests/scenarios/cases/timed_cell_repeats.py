"""A cell under a timing magic prints other times, and the same result.

run: setup work work
ask: work
probe: out
changed: no
"""
# %% setup
import numpy as np
values = np.arange(100_000)
# %% work
%%time
out = int(np.sqrt(values).sum())
