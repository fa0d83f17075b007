"""Support vector machines draw a seed from numpy and do not use it; the kernel's width changed.

run: setup fit other width fit
ask: fit
probe: score
changed: yes
expect: input width 4
innocent: rng numpy
needs: sklearn
"""
# %% setup
import numpy as np
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC
X, y = load_iris(return_X_y=True)
width = 0.001
# %% fit
score = cross_val_score(SVC(gamma=width), X, y, cv=3).tolist()
# %% other
_ = np.random.rand(3)
# %% width
width = 1.0
