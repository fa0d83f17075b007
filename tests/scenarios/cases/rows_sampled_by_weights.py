"""Rows are sampled by the weights of a column, which another cell changed.

run: setup use other use
ask: use
probe: out
changed: yes
expect: input df 3
"""
# %% setup
import numpy as np, pandas as pd
df = pd.DataFrame({"id": range(20), "w": np.arange(20.0) + 1})
# %% use
out = df.sample(5, weights="w", random_state=3)["id"].tolist()
# %% other
df["w"] = 21 - df["w"]
