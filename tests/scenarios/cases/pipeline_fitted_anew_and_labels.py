"""A pipeline made elsewhere is fitted by the cell; the labels changed.

run: setup fit flip fit
ask: fit
probe: acc
changed: yes
expect: input y 3
"""
# %% setup
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.linear_model import LogisticRegression
r = np.random.RandomState(0)
X = r.randn(120, 6); y = (X[:, 0] + 0.5 * r.randn(120) > 0).astype(int)
pipe = make_pipeline(StandardScaler(), LogisticRegression())
# %% fit
acc = pipe.fit(X, y).predict_proba(X)[:, 1].sum() + pipe[-1].coef_[0, 0]
# %% flip
y[:15] = 1 - y[:15]
