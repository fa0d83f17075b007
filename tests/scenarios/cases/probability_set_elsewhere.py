"""A support vector machine that estimates probabilities uses its seed; its data changed too.

run: setup make fit more fit
ask: fit
probe: p
changed: yes
expect: rng numpy 3
expect: input X 4
needs: sklearn
"""
# %% setup
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.svm import SVC
X, y = load_breast_cancer(return_X_y=True)
X, y = X[:120], y[:120]
np.random.seed(0)
# %% make
clf = SVC(probability=True)
# %% fit
clf.fit(X, y)
p = clf.predict_proba(X)[0, 0]
p
# %% more
X = X * 1.1
