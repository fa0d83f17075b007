"""The cell makes the last step of its pipeline stronger after each fit; the labels changed too.

run: setup fit flip fit
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
from sklearn.linear_model import Ridge
r = np.random.RandomState(0)
X = r.randn(60, 3); y = X[:, 0] + 0.5 * r.randn(60)
pipe = make_pipeline(StandardScaler(), Ridge())
# %% fit
acc = pipe.fit(X, y).score(X, y)
pipe[-1].alpha *= 10
# %% flip
y[:5] += 1
