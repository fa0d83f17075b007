"""Features are loaded, or made where there is no file; what they are made of changed, and the model's depth.

run: setup q change q
ask: q
probe: out
changed: yes
expect: input depth 3
innocent: input raw
"""
# %% setup
import numpy as np
from sklearn.tree import DecisionTreeRegressor
raw = np.arange(20.0).reshape(10, 2)
np.save("features.npy", raw ** 2)
depth = 1
# %% q
try:
    feats = np.load("features.npy")
except FileNotFoundError:
    feats = raw ** 2
    np.save("features.npy", feats)
tree = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(feats, feats.sum(1))
out = tree.predict(feats[:4]).tolist()
# %% change
raw[:] = 0
depth = 3
