"""sklearn's display was set to text; the data was scaled.

run: setup fit prep fit
ask: fit
probe: c
changed: yes
expect: input X 3
innocent: flag sklearn
"""
# %% setup
import numpy as np, sklearn
from sklearn.linear_model import Ridge
g = np.random.default_rng(0)
X = g.normal(size=(20, 2)); y = X.sum(1)
# %% fit
c = Ridge().fit(X, y).coef_.tolist()
# %% prep
sklearn.set_config(display="text")
X *= 2
