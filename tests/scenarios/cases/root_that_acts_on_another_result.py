"""The cell that made an input was edited, and drew, for another variable: data is behind it.

run: raw split fit raw@2 split@2 fit
ask: fit
probe: slope
changed: yes
expect: input features
"""
# %% raw
import numpy as np

raw = np.arange(20.0).reshape(10, 2)
# %% raw@2
raw = np.arange(20.0).reshape(10, 2) ** 2
# %% split
features = raw[:, 0]
labels = raw[:, 1] * 2.0
# %% split@2
features = raw[:, 0]
labels = raw[:, 1] * 2.0 + np.random.rand()
# %% fit
slope = features.mean()
