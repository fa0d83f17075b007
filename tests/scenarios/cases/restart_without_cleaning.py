"""After the restart the cell that cleans the data was not run.

run: setup clean q !restart setup q
ask: q
probe: m
changed: yes
expect: input df
"""
# %% setup
import pandas as pd
df = pd.DataFrame({"a": [1., None, 3.]})
# %% clean
df = df.fillna(0)
# %% q
m = float(df["a"].mean())
