"""An estimator learns on from what it knew.

run: setup learn learn
ask: learn
probe: weights
changed: yes
expect: input clf 2
"""
# %% setup
from sklearn.datasets import load_iris
from sklearn.linear_model import SGDClassifier
X, y = load_iris(return_X_y=True)
clf = SGDClassifier(random_state=0)
# %% learn
clf.partial_fit(X, y, classes=[0, 1, 2])
weights = clf.coef_.tolist()
