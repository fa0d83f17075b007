"""A preallocated array is filled again by index; the split drawn is the cause.

run: setup compare compare
ask: compare
probe: out
changed: yes
expect: rng numpy 2
innocent: input curve
"""
# %% setup
import numpy as np
from sklearn.linear_model import Ridge, Lasso
rng0 = np.random.default_rng(0)
X = rng0.normal(size=(60, 4)); y = X[:, 0] + 0.3 * rng0.normal(size=60)
np.random.seed(0)
curve = np.zeros(3)
# %% compare
order = np.random.permutation(60)
tr, te = order[:40], order[40:]
for i, alpha in enumerate((0.1, 1.0, 10.0)):
    curve[i] = Ridge(alpha=alpha).fit(X[tr], y[tr]).score(X[te], y[te])
out = curve.tolist()
print(out)
