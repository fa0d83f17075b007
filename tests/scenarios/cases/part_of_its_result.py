"""The cell adds the same column to a frame that another cell gave one more: it did the same.

run: setup use other use
ask: use
probe: list(df["double"])
changed: no
innocent: input df
"""
# %% setup
import pandas as pd
df = pd.DataFrame({"price": [1., 2, 3]})
# %% use
df["double"] = df["price"] * 2
# %% other
df["noise"] = 1
