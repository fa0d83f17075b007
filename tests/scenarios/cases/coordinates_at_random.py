"""A lasso picks coordinates at random: its seed is the cause.

run: setup fit fit
ask: fit
probe: model.coef_.tolist()
changed: yes
expect: rng numpy 2
needs: sklearn
"""
# %% setup
import numpy as np
from sklearn.linear_model import Lasso

rng = np.random.RandomState(0)
X = rng.normal(size=(40, 6))
target = X[:, 0] * 2 + X[:, 1]
np.random.seed(0)
# %% fit
model = Lasso(alpha=0.01, selection="random", tol=0.1).fit(X, target)
coefficients = model.coef_
