"""The cell adds a column to a frame that another cell gave one more.

run: setup use other use
ask: use
probe: list(df.columns)
changed: yes
expect: input df 3
"""
# %% setup
import pandas as pd
df = pd.DataFrame({"price": [1., 2, 3]})
# %% use
df["double"] = df["price"] * 2
# %% other
df["noise"] = 1
