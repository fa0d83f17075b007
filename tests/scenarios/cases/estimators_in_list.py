"""A list of named estimators is fitted again in a loop, on data that changed.

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
from sklearn.tree import DecisionTreeRegressor
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = X @ np.array([1.0, 2.0, 0.5]) + rng.normal(size=60)
models = [("ridge", Ridge()), ("tree", DecisionTreeRegressor(random_state=0, max_depth=2))]
# %% fit
scores = []
for name, model in models:
    scores.append(model.fit(X, y).score(X, y))
print(scores)
# %% scale
X = X[:, :2] * 3.0
