"""The same keys of a dict are written again; the split drawn is the cause.

run: setup compare compare
ask: compare
probe: out
changed: yes
expect: rng numpy 2
innocent: input results
"""
# %% setup
import numpy as np
from sklearn.linear_model import Ridge, Lasso
rng0 = np.random.default_rng(0)
X = rng0.normal(size=(60, 4)); y = X[:, 0] + 0.3 * rng0.normal(size=60)
np.random.seed(0)
results = {}
# %% compare
order = np.random.permutation(60)
tr, te = order[:40], order[40:]
for alpha in (0.1, 1.0, 10.0):
    results[alpha] = round(Ridge(alpha=alpha).fit(X[tr], y[tr]).score(X[te], y[te]), 4)
out = dict(results)
print(out)
