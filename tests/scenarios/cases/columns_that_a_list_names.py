"""A column was added that is not among the features; what changed is the strength of the penalty.

run: setup strength fit more strength@2 fit
ask: fit
probe: coefficients
changed: yes
expect: input strength 5
innocent: input df
needs: sklearn
"""
# %% setup
import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge

values = np.random.RandomState(0).normal(size=(30, 3))
df = pd.DataFrame(values, columns=["a", "b", "target"])
features = ["a", "b"]
# %% strength
strength = 1.0
# %% strength@2
strength = 50.0
# %% more
df["ratio"] = df.a / df.b
# %% fit
model = Ridge(alpha=strength).fit(df[features], df["target"])
coefficients = model.coef_.tolist()
