"""A column was added and another changed: the cell reads the third.

run: setup use other use
ask: use
probe: m
changed: yes
expect: rng numpy 2
innocent: input df
"""
# %% setup
import numpy as np, pandas as pd
np.random.seed(0)
df = pd.DataFrame({"price": [1., 2, 3], "qty": [4, 5, 6]})
# %% use
m = float(df["price"].mean() + df.price.max() + np.random.rand())
# %% other
df["total"] = df["qty"] * 2
df["qty"] = 0
