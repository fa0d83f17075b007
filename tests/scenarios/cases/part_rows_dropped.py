"""Rows were dropped: every column differs.

run: setup use other use
ask: use
probe: m
changed: yes
expect: input df 3
"""
# %% setup
import pandas as pd
df = pd.DataFrame({"price": [1., 2, None], "qty": [4, 5, 6]})
# %% use
m = float(df["qty"].mean())
# %% other
df = df.dropna()
