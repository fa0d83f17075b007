"""A pipeline ends in an estimator with warm_start, which goes on; the rows were drawn again too.

run: setup fit draw fit
ask: fit
probe: acc
changed: yes
expect: input pipe 2
expect: input y 3
"""
# %% setup
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.linear_model import SGDRegressor
r = np.random.RandomState(0)
X = r.randn(60, 3); y = X[:, 0] + 0.5 * r.randn(60)
pipe = make_pipeline(StandardScaler(), SGDRegressor(max_iter=2, tol=None, random_state=0, warm_start=True))
# %% fit
acc = pipe.fit(X, y).score(X, y)
# %% draw
y = y + 0.1 * r.randn(60)
