"""Forests take their seeds from one RandomState that all cells share.

run: setup fit fit
ask: fit
probe: importances
changed: yes
expect: rng rs 2
"""
# %% setup
import numpy as np
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
X, y = load_iris(return_X_y=True)
rs = np.random.RandomState(0)
# %% fit
importances = RandomForestClassifier(5, random_state=rs).fit(X, y).feature_importances_.tolist()
