"""augment was edited, but the helper calls it only when told to; the cell does not. The scale changed.

run: setup funcs score funcs@2 scale score
ask: score
probe: total
changed: yes
expect: input scale 5
"""
# %% setup
import numpy as np
X = np.arange(12.0).reshape(4, 3)
scale = 1.0
# %% funcs
def augment(X):
    return X[:, ::-1]
def preprocess(X, train=False):
    if train:
        X = augment(X)
    return X - X.mean(0)
# %% funcs@2
def augment(X):
    return X[::-1]
def preprocess(X, train=False):
    if train:
        X = augment(X)
    return X - X.mean(0)
# %% scale
scale = 2.0
# %% score
total = float(np.abs(preprocess(X) * scale).sum())
print(total)
