"""The cell writes a Parquet file of numbers that it draws: the file is no input.

run: setup q q
ask: q
probe: out
changed: yes
expect: rng numpy
"""
# %% setup
import pandas as pd, numpy as np
np.random.seed(0)
# %% q
df = pd.DataFrame({"a":np.random.rand(3)})
df.to_parquet("d.parquet")
out = df["a"].sum()
