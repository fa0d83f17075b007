"""The loss is chosen by name with if/elif; the one not chosen was edited. The data acts.

run: funcs data use funcs@2 data use
ask: use
probe: out
changed: yes
expect: input a 5
"""
# %% funcs
import numpy as np
def mse(e):
    return (e ** 2).mean()
def huber(e, d=1.0):
    return np.where(np.abs(e) < d, e ** 2 / 2, d * (np.abs(e) - d / 2)).mean()
def loss(e, kind):
    if kind == "mse":
        return mse(e)
    elif kind == "huber":
        return huber(e)
    raise ValueError(kind)
# %% funcs@2
import numpy as np
def mse(e):
    return (e ** 2).mean()
def huber(e, d=1.5):
    return np.where(np.abs(e) < d, e ** 2 / 2, d * (np.abs(e) - d / 2)).mean()
def loss(e, kind):
    if kind == "mse":
        return mse(e)
    elif kind == "huber":
        return huber(e)
    raise ValueError(kind)
# %% data
a = np.array([1.0, 2.0, 3.0]) * (3 if "a" in globals() else 1)
# %% use
out = float(loss(a, "mse"))
print(out)
