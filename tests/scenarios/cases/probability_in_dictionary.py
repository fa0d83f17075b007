"""A support vector machine that estimates probabilities, in a dictionary, uses its seed.

run: setup make fit fit
ask: fit
probe: p
changed: yes
expect: rng numpy 3
needs: sklearn
"""
# %% setup
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.svm import SVC
from sklearn.linear_model import LogisticRegression
X, y = load_breast_cancer(return_X_y=True)
X, y = X[:120], y[:120]
np.random.seed(0)
# %% make
models = {"log": LogisticRegression(max_iter=5000), "svc": SVC(probability=True)}
# %% fit
p = {}
for name, model in models.items():
    model.fit(X, y)
    p[name] = model.predict_proba(X)[0, 0]
p
