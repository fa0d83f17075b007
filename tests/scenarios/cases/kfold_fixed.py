"""Folds with a random state do not care about numpy's source.

run: setup folds noise folds
ask: folds
probe: [f.tolist() for f in folds]
changed: no
"""
# %% setup
import numpy as np
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold
X, y = load_iris(return_X_y=True)
# %% folds
folds = [test for _, test in KFold(5, shuffle=True, random_state=0).split(X)]
# %% noise
np.random.rand(10);
