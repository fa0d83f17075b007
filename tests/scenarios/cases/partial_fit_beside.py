"""An estimator goes on from its own earlier run, and the data changed: both are causes.

run: setup fit data fit
ask: fit
probe: mean
changed: yes
needs: sklearn
expect: input scaler 2
expect: input X 3
"""
# %% setup
import numpy as np
from sklearn.preprocessing import StandardScaler
X = np.arange(6.0).reshape(3, 2)
scaler = StandardScaler()
# %% fit
scaler.partial_fit(X)
mean = scaler.mean_.tolist()
# %% data
X = X + 1
