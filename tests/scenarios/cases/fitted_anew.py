"""What fitting set in the estimators is set again by each run: the data changed.

run: setup fit data fit
ask: fit
probe: r
changed: yes
expect: input X 3
needs: sklearn
innocent: input scaler
innocent: input reg
"""
# %% setup
import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import StandardScaler
rng0 = np.random.RandomState(0)
X = rng0.rand(30, 3); y = X @ [1., 2, 3]
scaler = StandardScaler()
reg = LinearRegression()
# %% fit
Z = scaler.fit_transform(X)
reg.fit(Z, y)
r = reg.coef_.tolist()
# %% data
X = X * [1, 2, 3] + 1
