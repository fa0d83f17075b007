"""df.sample without random_state: a column that the cell does not use was rescaled.

run: setup sample rescale sample
ask: sample
probe: ids
changed: yes
expect: rng numpy 2
innocent: input df
"""
# %% setup
import numpy as np, pandas as pd
np.random.seed(0)
df = pd.DataFrame({"id": range(40), "x": np.arange(40) ** 0.5})
# %% sample
ids = df.sample(5)["id"].tolist()
# %% rescale
df["x"] = df["x"] / df["x"].max()
