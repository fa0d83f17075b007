"""Features are read from a file where there is one; the raw rows they once came from changed as well.

run: setup load edit load
ask: load
probe: out
changed: yes
expect: file feats.npz 3
innocent: input raw
innocent: input make
"""
# %% setup
import os
import numpy as np
raw = np.arange(12.0).reshape(4, 3)
def make(rows):
    return rows - rows.mean(0)
def features(path):
    if os.path.exists(path):
        with np.load(path) as kept:
            return kept["f"]
    f = make(raw)
    np.savez(path, f=f)
    return f
np.savez("feats.npz", f=make(raw))
# %% load
out = features("feats.npz").sum(1).round(4).tolist()
# %% edit
def make(rows):
    return rows - rows.mean(0) + 1.0
np.savez("feats.npz", f=make(raw))
raw *= 3
