"""Folds without a random state come from numpy's source.

run: setup seed folds folds
ask: folds
probe: [f.tolist() for f in folds]
changed: yes
expect: rng numpy 3
"""
# %% setup
import numpy as np
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold
X, y = load_iris(return_X_y=True)
# %% seed
np.random.seed(0)
# %% folds
folds = [test for _, test in KFold(5, shuffle=True).split(X)]
