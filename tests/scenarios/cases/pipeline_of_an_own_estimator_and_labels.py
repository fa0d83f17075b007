"""The last step of a pipeline is of the user's class and adds up what it saw; the labels changed too.

run: setup fit flip fit
ask: fit
probe: s
changed: yes
expect: input pipe 2
expect: input y 3
"""
# %% setup
import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
class Sum(RegressorMixin, BaseEstimator):
    def __init__(self):
        self.total = 0.0
    def fit(self, X, y):
        self.total += y.sum(); self.seen_ = len(y)
        return self
    def predict(self, X):
        return np.full(len(X), self.total)
r = np.random.RandomState(0)
X = r.randn(60, 3); y = X[:, 0] + 0.5 * r.randn(60)
pipe = make_pipeline(StandardScaler(), Sum())
# %% fit
s = pipe.fit(X, y).predict(X)[0]
# %% flip
y[:5] += 2
