"""A dictionary of estimators is fitted again in a loop, on data that changed.

run: setup fit scale fit
ask: fit
probe: scores
changed: yes
expect: input X 3
innocent: input models
needs: sklearn
"""
# %% setup
import numpy as np
from sklearn.linear_model import Lasso, Ridge
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = X @ np.array([1.0, 2.0, 0.5]) + rng.normal(size=60)
models = {"ridge": Ridge(), "lasso": Lasso(alpha=0.1)}
# %% fit
scores = {}
for name, model in models.items():
    model.fit(X, y)
    scores[name] = model.score(X, y)
scores
# %% scale
X = X[:, :2] * 3.0
