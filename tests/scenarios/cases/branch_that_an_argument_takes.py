"""A function that is called in the branch which the argument takes was edited.

run: funcs score funcs@2 score
ask: score
probe: total
changed: yes
expect: input augment 3 or code augment 3
"""
# %% funcs
import numpy as np

X = np.arange(12.0).reshape(4, 3)


def augment(X):
    return X[:, ::-1]


def preprocess(X, train=False):
    if train:
        X = augment(X)
    return X - X.mean(0)


# %% funcs@2
import numpy as np

X = np.arange(12.0).reshape(4, 3)


def augment(X):
    return X[::-1]


def preprocess(X, train=False):
    if train:
        X = augment(X)
    return X - X.mean(0)


# %% score
total = float((preprocess(X, train=True) * X).sum())
print(total)
