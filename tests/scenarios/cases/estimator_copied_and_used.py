"""A model is validated on copies of it and asked itself: that another cell fitted it again acts.

run: setup fit score fit@2 score
ask: score
probe: first
changed: yes
expect: input model 4
needs: sklearn
"""
# %% setup
import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score

X = np.random.default_rng(0).normal(size=(40, 3))
y = X[:, 0] * 2
model = Ridge()
# %% fit
fitted = model.fit(X, y)
# %% fit@2
fitted = model.fit(X, y * 2)
# %% score
scores = cross_val_score(model, X, y, cv=3).tolist()
first = float(model.predict(X[:1])[0])
