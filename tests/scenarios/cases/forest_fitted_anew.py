"""A forest without a seed is fitted again: what its own run filled in is made again.

run: setup fit fit
ask: fit
probe: score
changed: yes
expect: rng numpy 2
innocent: input clf
needs: sklearn
"""
# %% setup
import numpy as np
from sklearn.ensemble import RandomForestClassifier
np.random.seed(0)
X = np.random.rand(40, 3); y = (X[:, 0] > .5).astype(int)
clf = RandomForestClassifier(5)
# %% fit
clf.fit(X, y)
score = clf.predict_proba(X).tolist()
