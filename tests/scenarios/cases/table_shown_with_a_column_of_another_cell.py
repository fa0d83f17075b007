"""A cell adds a column and shows the table, which another cell gave a column as well.

run: setup double more double
ask: double
probe: df.shape
changed: yes
expect: input df 3
needs: pandas
"""
# %% setup
import pandas as pd
df = pd.DataFrame({"x": [1, 2]})
# %% double
df["double"] = df["x"] * 2
df
# %% more
df["note"] = "new"
