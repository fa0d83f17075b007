"""An estimator that another cell fitted is fitted again; the data to predict for changed.

run: setup use other use
ask: use
probe: v
changed: yes
expect: input k 3
innocent: input m
innocent: input scaler
needs: sklearn
"""
# %% setup
import numpy as np
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler
m, scaler, X, k = Ridge(), StandardScaler(), np.arange(8.).reshape(4, 2), 1
y = X.sum(1)
# %% other
m.fit(X, -y)
scaler.fit(X * 3)
k = 2
# %% use
Z = scaler.fit_transform(X)
m.fit(Z, y)
v = float(m.predict(Z[:1])[0]) * k
