"""A scaler was fitted to other data in another cell.

run: setup scale refit scale
ask: scale
probe: out.tolist()
changed: yes
expect: input scaler 3
"""
# %% setup
import numpy as np
from sklearn.preprocessing import StandardScaler
X = np.arange(12.0).reshape(6, 2)
scaler = StandardScaler().fit(X)
# %% scale
out = scaler.transform(X)
# %% refit
other = scaler.fit(X * 3).transform(X)
