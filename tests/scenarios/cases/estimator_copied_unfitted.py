"""A model is validated on copies of it: that another cell fitted it does not act, the data does.

run: setup score fit change score
ask: score
probe: scores
changed: yes
expect: input y 4
innocent: input model
needs: sklearn
"""
# %% setup
import numpy as np
from sklearn.linear_model import Lasso
from sklearn.model_selection import cross_val_score

X = np.random.default_rng(0).normal(size=(40, 3))
y = X[:, 0] * 2
model = Lasso(alpha=0.1)
# %% score
scores = cross_val_score(model, X, y, cv=3).tolist()
# %% fit
fitted = model.fit(X, y)
# %% change
y = X[:, 0] * 2 + X[:, 1]
