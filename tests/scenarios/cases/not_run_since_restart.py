"""After the restart the cell that cleans the data was not run: that cell is named.

run: setup clean q !restart setup q
ask: q
probe: m
changed: yes
expect: input df 2
says: has not been run since
"""
# %% setup
import pandas as pd
df = pd.DataFrame({"a": [1., None, 3.]})
# %% clean
df = df.fillna(0)
# %% q
m = float(df["a"].mean())
